// Operators that read an image at positions given by a tensor.
#include "absl/strings/str_cat.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/taps.h"
#include "compiler/relay/ops/window.h"

namespace ingot::relay::ops {
namespace {

absl::Status ReadPadding(const Attrs& attrs, Padding* padding) {
  const std::string name = attrs.Get<std::string>("padding_mode");
  *padding = name == "border"       ? Padding::kBorder
             : name == "reflection" ? Padding::kReflection
                                    : Padding::kZeros;
  if (name != "zeros" && name != "border" && name != "reflection") {
    return Invalid("there is no padding_mode '", name, "'");
  }
  return absl::OkStatus();
}

OpDef GridSample() {
  OpDef def;
  def.name = "grid_sample";
  def.doc =
      "x[n, c, (d,) h, w] at the positions grid[n, (d,) h, w, 2 or 3] (x, y "
      "and "
      "z in [-1, 1])";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kInjective;
  def.attrs = {
      StringAttr("mode", "linear, nearest or cubic", "linear"),
      StringAttr("padding_mode", "zeros, border or reflection", "zeros"),
      IntAttr("align_corners", "whether -1 and 1 are centres of elements", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const Shape &x = c.type(0).shape, &grid = c.type(1).shape;
    const size_t rank = x.size();
    if (rank < 4 || rank > 5) {
      return Invalid("x ", ToString(c.type(0)), " must have rank 4 or 5");
    }
    INGOT_RETURN_IF_ERROR(
        ExpectRank(c.type(1), static_cast<int>(rank), "grid"));
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(0), "x"));
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(1), "grid"));
    if (!MayBeEqual(grid[rank - 1], I64(static_cast<int64_t>(rank) - 2),
                    c.assumed) ||
        !MayBeEqual(grid[0], x[0], c.assumed)) {
      return Invalid("grid ", ToString(c.type(1)), " does not fit x ",
                     ToString(c.type(0)));
    }
    for (size_t d = 2; d < rank; ++d) {
      if (!MayBeEqual(HasElements(x[d]), I64(1), c.assumed)) {
        return Invalid("x has no elements");
      }
    }
    const std::string mode = c.attrs.Get<std::string>("mode");
    if (mode != "linear" && mode != "nearest" && mode != "cubic") {
      return Invalid("there is no mode '", mode, "'");
    }
    Padding ignored;
    INGOT_RETURN_IF_ERROR(ReadPadding(c.attrs, &ignored));
    Shape out = {x[0], x[1]};
    out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
    return Types{{c.type(0).dtype, out}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], grid = c.inputs[1];
    Padding padding;
    INGOT_RETURN_IF_ERROR(ReadPadding(c.attrs, &padding));
    const bool align = c.attrs.Get<int64_t>("align_corners") != 0;
    const std::string mode = c.attrs.Get<std::string>("mode");
    const int n = x.rank() - 2;
    // The grid's last number is the first dimension's.
    Shape points = grid.shape();
    points.pop_back();
    std::vector<TapTables> tables;
    for (int d = 0; d < n; ++d) {
      const Coordinate coordinate{x.shape()[2 + d], align, padding};
      tables.emplace_back(
          c, absl::StrCat("along", d), points, coordinate, [&](Indices at) {
            at.push_back(I64(n - 1 - d));
            return Taps(coordinate, mode,
                        coordinate.Denormalize(ToFloat(grid(at))));
          });
    }
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          Indices point = i;
          point.erase(point.begin() + 1);
          std::vector<std::vector<Place>> places;
          for (const TapTables& table : tables) {
            places.push_back(table.At(point));
          }
          return MakeCast(x.dtype(), SumOf(Terms(x, {i[0], i[1]}, places,
                                                 mode == "nearest")));
        })};
  };
  return def;
}

absl::StatusOr<Types> InferDeformColumns(const InferContext& c) {
  const TensorType &x = c.type(0), &offset = c.type(1);
  INGOT_RETURN_IF_ERROR(ExpectRank(x, 4, "x"));
  INGOT_RETURN_IF_ERROR(ExpectRank(offset, 4, "offset"));
  INGOT_RETURN_IF_ERROR(ExpectFloat(x, "x"));
  INGOT_RETURN_IF_ERROR(ExpectFloat(offset, "offset"));
  INGOT_ASSIGN_OR_RETURN(
      Window w,
      ReadWindow(c.attrs, c.attrs.Get<std::vector<int64_t>>("kernel")));
  if (w.kernel.size() != 2) return Invalid("the window must have two sides");
  const int64_t taps = w.kernel[0] * w.kernel[1];
  const int64_t groups = c.attrs.Get<int64_t>("offset_groups");
  int64_t channels;
  if (groups < 1 || !ConstDim(x.shape[1], &channels) ||
      channels % groups != 0) {
    return Invalid("offset_groups=", groups, " of ", ToString(x));
  }
  Shape out = {x.shape[0], I64(channels * taps)};
  for (int d = 0; d < 2; ++d) {
    INGOT_ASSIGN_OR_RETURN(Dim count, WindowCount(w, d, x.shape[2 + d]));
    out.push_back(count);
  }
  Shape wanted = {x.shape[0], I64(groups * taps * 2), out[2], out[3]};
  for (int k = 1; k < 3; ++k) {
    if (!c.has(k)) continue;
    if (k == 2) wanted[1] = I64(groups * taps);
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(k), 4, "mask"));
    for (int d = 0; d < 4; ++d) {
      if (MayBeEqual(c.type(k).shape[d], wanted[d], c.assumed)) continue;
      return Invalid("offset or mask ", ToString(c.type(k)), " should be ",
                     ToString(TensorType{c.type(k).dtype, wanted}));
    }
  }
  return Types{{x.dtype, out}};
}

// The operand of a convolution whose taps are moved, as columns.
OpDef DeformColumns() {
  OpDef def;
  def.name = "deform_columns";
  def.doc =
      "x[n, c, h, w] at the taps of a window, moved by offset[n, g * taps * 2, "
      "h, w] (y, x) and scaled by mask[n, g * taps, h, w]: [n, c * taps, h, w]";
  def.min_inputs = 2;
  def.max_inputs = 3;
  def.attrs = {IntsAttr("kernel", "extent of the window", kRequired),
               StridesAttr(), PadsAttr(), DilationsAttr(),
               IntAttr("offset_groups", "of channels with offsets", 1)};
  def.infer = &InferDeformColumns;
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], offset = c.inputs[1];
    INGOT_ASSIGN_OR_RETURN(
        Window w,
        ReadWindow(c.attrs, c.attrs.Get<std::vector<int64_t>>("kernel")));
    const int64_t taps = w.kernel[0] * w.kernel[1];
    const int64_t groups = c.attrs.Get<int64_t>("offset_groups");
    int64_t channels = 0;
    ConstDim(x.shape()[1], &channels);
    // There is one point for each tap of each group.
    const Shape points = {x.shape()[0], I64(groups * taps),
                          c.outputs[0].shape[2], c.outputs[0].shape[3]};
    std::vector<TapTables> tables;
    for (int d = 0; d < 2; ++d) {
      const Coordinate coordinate{x.shape()[2 + d], true, Padding::kZeros};
      tables.emplace_back(
          c, absl::StrCat("along", d), points, coordinate,
          [&](const Indices& i) {
            const Expr tap = i[1] % I64(taps);
            const Expr in_window =
                d == 0 ? FloorDiv(tap, w.kernel[1]) : tap % I64(w.kernel[1]);
            const Expr still = i[2 + d] * w.strides[d] - w.pads_begin[d] +
                               in_window * w.dilations[d];
            const Expr by = offset({i[0], i[1] * 2 + d, i[2], i[3]});
            return Taps(coordinate, "linear", ToFloat(still) + ToFloat(by));
          });
    }
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          const Expr channel = FloorDiv(i[1], taps);
          const Expr group = FloorDiv(channel, channels / groups);
          const Indices point = {i[0], group * taps + i[1] % I64(taps), i[2],
                                 i[3]};
          Expr value = SumOf(Terms(x, {i[0], channel},
                                   {tables[0].At(point), tables[1].At(point)}));
          if (c.has(2)) value = value * ToFloat(c.inputs[2](point));
          return MakeCast(x.dtype(), value);
        })};
  };
  return def;
}

}  // namespace

absl::Status RegisterSampling(OpRegistry* registry) {
  return RegisterAllOf(registry, {GridSample(), DeformColumns()});
}

}  // namespace ingot::relay::ops
