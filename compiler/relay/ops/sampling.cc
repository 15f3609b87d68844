// Operators that read an image at positions given by a tensor.
#include <functional>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/families.h"
#include "compiler/relay/ops/window.h"

namespace ingot::relay::ops {
namespace {

using tir::Intrinsic;
using tir::MakeCall;
using tir::MakeCast;
using tir::MakeConst;
using tir::MakeSelect;

Expr F(double value) { return MakeConst(DataType::Float(32), value); }
Expr ToFloat(const Expr& e) { return MakeCast(DataType::Float(32), e); }
Expr ToIndex(const Expr& e) { return MakeCast(DataType::Int(64), e); }
Expr Floor(const Expr& e) { return MakeCall(Intrinsic::kFloor, {e}); }

enum class Padding { kZeros, kBorder, kReflection };

// One coordinate of a sampling position.
struct Coordinate {
  Dim extent;
  bool align_corners;
  Padding padding;

  Expr Clip(const Expr& x) const {
    return Min(Max(x, F(0)), ToFloat(extent - 1));
  }
  // From [-1, 1] to elements.
  Expr Denormalize(const Expr& g) const {
    const Expr size = ToFloat(extent);
    if (align_corners) return (g + F(1)) * F(0.5) * (size - F(1));
    return ((g + F(1)) * size - F(1)) * F(0.5);
  }
  // Into the image, by mirrors at its edges.
  Expr Reflect(const Expr& x) const {
    const Expr low = F(align_corners ? 0 : -0.5);
    const Expr span = Max(ToFloat(extent) - F(align_corners ? 1 : 0), F(1e-6));
    const Expr distance = MakeCall(Intrinsic::kAbs, {x - low});
    const Expr flips = Floor(distance / span);
    const Expr rest = distance - flips * span;
    const Expr even = Eq(flips - F(2) * Floor(flips * F(0.5)), F(0));
    return MakeSelect(even, rest, span - rest) + low;
  }
  Expr Pad(const Expr& x) const {
    if (padding == Padding::kBorder) return Clip(x);
    if (padding == Padding::kReflection) return Clip(Reflect(x));
    return x;
  }
  // The index of a whole position, in range, and whether it counts.
  Expr Index(const Expr& x) const { return ToIndex(Clip(x)); }
  Expr Inside(const Expr& x) const {
    return And(Ge(x, F(0)), Le(x, ToFloat(extent - 1)));
  }
};

struct Tap {
  Expr position, weight;  // a whole number, as a float
};

std::vector<Tap> Taps(const Coordinate& c, const std::string& mode,
                      const Expr& raw) {
  if (mode == "nearest") {
    return {{MakeCall(Intrinsic::kRound, {c.Pad(raw)}), F(1)}};
  }
  if (mode == "linear") {
    const Expr x = c.Pad(raw);
    const Expr low = Floor(x);
    return {{low, F(1) - (x - low)}, {low + F(1), x - low}};
  }
  // Cubic: padding moves each tap, not the position.
  const Expr low = Floor(raw);
  const Expr s = raw - low;
  const double a = -0.75;
  auto outer = [&](const Expr& t) {
    return ((F(a) * t - F(5 * a)) * t + F(8 * a)) * t - F(4 * a);
  };
  auto inner = [&](const Expr& t) {
    return (F(a + 2) * t - F(a + 3)) * t * t + F(1);
  };
  const std::vector<Expr> weights = {outer(s + F(1)), inner(s), inner(F(1) - s),
                                     outer(F(2) - s)};
  std::vector<Tap> taps;
  for (int k = 0; k < 4; ++k) {
    taps.push_back(
        {MakeCall(Intrinsic::kRound, {c.Pad(low + F(k - 1))}), weights[k]});
  }
  return taps;
}

// The elements of x[first..., taps...] by their weights, those outside being 0.
Expr SumOfTaps(const te::Tensor& x, const Indices& first,
               const std::vector<Coordinate>& coordinates,
               const std::vector<std::vector<Tap>>& taps, bool unweighted) {
  Expr sum;
  std::vector<size_t> pick(taps.size(), 0);
  while (true) {
    Indices at = first;
    std::vector<Expr> inside;
    Expr weight;
    for (size_t d = 0; d < taps.size(); ++d) {
      const Tap& tap = taps[d][pick[d]];
      at.push_back(coordinates[d].Index(tap.position));
      inside.push_back(coordinates[d].Inside(tap.position));
      weight = weight == nullptr ? tap.weight : weight * tap.weight;
    }
    const Expr value = MakeSelect(All(inside), ToFloat(x(at)), F(0));
    const Expr term = unweighted ? value : value * weight;
    sum = sum == nullptr ? term : sum + term;
    size_t d = taps.size();
    while (d > 0 && ++pick[d - 1] == taps[d - 1].size()) pick[--d] = 0;
    if (d == 0) return sum;
  }
}

absl::Status ReadPadding(const Attrs& attrs, Padding* padding) {
  const std::string name = attrs.GetOr<std::string>("padding_mode", "zeros");
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
      StringAttr("mode", "linear (default), nearest or cubic"),
      StringAttr("padding_mode", "zeros (default), border or reflection"),
      IntAttr("align_corners", "1: -1 and 1 are centres; 0")};
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
      if (tir::IsConstInt(x[d], 0)) return Invalid("x has no elements");
    }
    const std::string mode = c.attrs.GetOr<std::string>("mode", "linear");
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
    const bool align = c.attrs.GetOr<int64_t>("align_corners", 0) != 0;
    const std::string mode = c.attrs.GetOr<std::string>("mode", "linear");
    const int n = x.rank() - 2;
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          // The taps of each dimension; the grid's last number is the first
          // dimension's.
          std::vector<Coordinate> coordinates;
          std::vector<std::vector<Tap>> taps;
          for (int d = 0; d < n; ++d) {
            coordinates.push_back({x.shape()[2 + d], align, padding});
            Indices at = {i[0]};
            at.insert(at.end(), i.begin() + 2, i.end());
            at.push_back(I64(n - 1 - d));
            taps.push_back(Taps(coordinates[d], mode,
                                coordinates[d].Denormalize(ToFloat(grid(at)))));
          }
          return MakeCast(x.dtype(), SumOfTaps(x, {i[0], i[1]}, coordinates,
                                               taps, mode == "nearest"));
        })};
  };
  return def;
}

// The mean of ratio x ratio samples in each bin of each region.
OpDef RoiAlign() {
  OpDef def;
  def.name = "roi_align";
  def.doc =
      "means over the bins of regions of x; operands x[n, c, h, w], "
      "rois[r, 4] (x1, y1, x2, y2), batch indices[r]";
  def.min_inputs = def.max_inputs = 3;
  def.fusion = FusionKind::kReduction;
  def.attrs = {IntAttr("output_height", "bins", true),
               IntAttr("output_width", "bins", true),
               IntAttr("sampling_ratio", "samples along a bin", true),
               FloatAttr("spatial_scale", "of the rois' coordinates; 1"),
               IntAttr("half_pixel", "coordinates count from centres; 1")};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(0), 4, "x"));
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(0), "x"));
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(1), 2, "rois"));
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(1), "rois"));
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(2), 1, "batch indices"));
    INGOT_RETURN_IF_ERROR(ExpectInteger(c.type(2), "batch indices"));
    const Shape &x = c.type(0).shape, &rois = c.type(1).shape;
    if (!MayBeEqual(rois[1], I64(4), c.assumed) ||
        !MayBeEqual(rois[0], c.type(2).shape[0], c.assumed)) {
      return Invalid("rois ", ToString(c.type(1)), " and batch indices ",
                     ToString(c.type(2)), " do not fit");
    }
    Shape out = {rois[0], x[1]};
    for (const char* name :
         {"output_height", "output_width", "sampling_ratio"}) {
      const int64_t v = c.attrs.Get<int64_t>(name);
      if (v < 1 || v > 65536) return Invalid(name, "=", v);
      if (out.size() < 4) out.push_back(I64(v));
    }
    return Types{{c.type(0).dtype, out}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], rois = c.inputs[1], batch = c.inputs[2];
    const int64_t ratio = c.attrs.Get<int64_t>("sampling_ratio");
    const bool half = c.attrs.GetOr<int64_t>("half_pixel", 1) != 0;
    const Expr scale = F(c.attrs.GetOr<double>("spatial_scale", 1));
    const Expr offset = F(half ? 0.5 : 0);
    // The sampling position along one side: bin i, sample s of `bins`.
    auto position = [&](const Indices& i, const Expr& bin, const Expr& s,
                        int64_t low, int64_t high, const char* bins) {
      auto edge = [&](int64_t k) {
        return ToFloat(rois({i[0], I64(k)})) * scale - offset;
      };
      const Expr start = edge(low);
      Expr length = edge(high) - start;
      if (!half) length = Max(length, F(1));
      const Expr size =
          length / F(static_cast<double>(c.attrs.Get<int64_t>(bins)));
      return start + ToFloat(bin) * size +
             (ToFloat(s) + F(0.5)) * size / F(static_cast<double>(ratio));
    };
    const DataType f32 = DataType::Float(32);
    const te::Tensor sum = c.graph.Reduce(
        SubName(c, "sum"), c.outputs[0].shape, {I64(ratio), I64(ratio)},
        te::Reducer::Sum(f32), [&](const Indices& i, const Indices& r) {
          const Expr y = position(i, i[2], r[0], 1, 3, "output_height");
          const Expr z = position(i, i[3], r[1], 0, 2, "output_width");
          // Samples up to one element outside count as on the edge.
          auto counts = [&](const Expr& at, int d) {
            return And(Ge(at, F(-1)), Le(at, ToFloat(x.shape()[d])));
          };
          auto taps = [&](const Expr& at, int d) {
            const Coordinate edge{x.shape()[d], true, Padding::kBorder};
            return Taps(edge, "linear", at);
          };
          Expr value = F(0);
          for (const Tap& a : taps(y, 2)) {
            for (const Tap& b : taps(z, 3)) {
              const Coordinate row{x.shape()[2], true, Padding::kBorder};
              const Coordinate column{x.shape()[3], true, Padding::kBorder};
              value = value + ToFloat(x({SafeIndex(batch({i[0]}), x.shape()[0]),
                                         i[1], row.Index(a.position),
                                         column.Index(b.position)})) *
                                  (a.weight * b.weight);
            }
          }
          return MakeSelect(And(counts(y, 2), counts(z, 3)), value, F(0));
        });
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          return MakeCast(x.dtype(),
                          sum(i) / F(static_cast<double>(ratio * ratio)));
        })};
  };
  return def;
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
  def.attrs = {IntsAttr("kernel", "extent of the window", true), StridesAttr(),
               PadsAttr(), DilationsAttr(),
               IntAttr("offset_groups", "of channels with offsets; 1")};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
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
    const int64_t groups = c.attrs.GetOr<int64_t>("offset_groups", 1);
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
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], offset = c.inputs[1];
    INGOT_ASSIGN_OR_RETURN(
        Window w,
        ReadWindow(c.attrs, c.attrs.Get<std::vector<int64_t>>("kernel")));
    const int64_t taps = w.kernel[0] * w.kernel[1];
    const int64_t groups = c.attrs.GetOr<int64_t>("offset_groups", 1);
    int64_t channels = 0;
    ConstDim(x.shape()[1], &channels);
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          const Expr channel = FloorDiv(i[1], taps);
          const Expr tap = i[1] % I64(taps);
          const Expr group = FloorDiv(channel, channels / groups);
          const Expr moved = group * taps + tap;
          const Indices in_window = {FloorDiv(tap, w.kernel[1]),
                                     tap % I64(w.kernel[1])};
          std::vector<Coordinate> coordinates;
          std::vector<std::vector<Tap>> of_tap;
          for (int d = 0; d < 2; ++d) {
            coordinates.push_back({x.shape()[2 + d], true, Padding::kZeros});
            const Expr still = i[2 + d] * w.strides[d] - w.pads_begin[d] +
                               in_window[d] * w.dilations[d];
            const Expr by = offset({i[0], moved * 2 + d, i[2], i[3]});
            of_tap.push_back(
                Taps(coordinates[d], "linear", ToFloat(still) + ToFloat(by)));
          }
          Expr value = SumOfTaps(x, {i[0], channel}, coordinates, of_tap,
                                 /*unweighted=*/false);
          if (c.has(2)) {
            value = value * ToFloat(c.inputs[2]({i[0], moved, i[2], i[3]}));
          }
          return MakeCast(x.dtype(), value);
        })};
  };
  return def;
}

OpDef MaxRoiPool() {
  OpDef def;
  def.name = "max_roi_pool";
  def.doc =
      "maxima over the bins of regions of x[n, c, h, w]; rois[r, 5]: image, "
      "x1, y1, x2, y2";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kReduction;
  def.attrs = {IntAttr("output_height", "bins", true),
               IntAttr("output_width", "bins", true),
               FloatAttr("spatial_scale", "of the rois' coordinates; 1")};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(0), 4, "x"));
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(0), "x"));
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(1), 2, "rois"));
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(1), "rois"));
    if (!MayBeEqual(c.type(1).shape[1], I64(5), c.assumed)) {
      return Invalid("rois ", ToString(c.type(1)), " must have 5 columns");
    }
    Shape out = {c.type(1).shape[0], c.type(0).shape[1]};
    for (const char* name : {"output_height", "output_width"}) {
      const int64_t v = c.attrs.Get<int64_t>(name);
      if (v < 1 || v > 65536) return Invalid(name, "=", v);
      out.push_back(I64(v));
    }
    return Types{{c.type(0).dtype, out}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], rois = c.inputs[1];
    const DataType t = x.dtype();
    const Expr scale = F(c.attrs.GetOr<double>("spatial_scale", 1));
    // [first, last) of bin `at` along side d: 0 rows, 1 columns.
    auto bin = [&](const Expr& roi, const Expr& at, int d) {
      auto edge = [&](int64_t k) {
        return Floor(ToFloat(rois({roi, I64(k)})) * scale + F(0.5));
      };
      const Expr start = edge(2 - d);
      const Expr length = Max(edge(4 - d) - start + F(1), F(1));
      const double bins = static_cast<double>(
          c.attrs.Get<int64_t>(d == 0 ? "output_height" : "output_width"));
      const Expr size = length / F(bins);
      const Expr low = Floor(ToFloat(at) * size);
      const Expr high = MakeCall(Intrinsic::kCeil, {ToFloat(at + 1) * size});
      return std::make_pair(ToIndex(low + start), ToIndex(high + start));
    };
    const te::Tensor best = c.graph.Reduce(
        SubName(c, "max"), c.outputs[0].shape, {x.shape()[2], x.shape()[3]},
        te::Reducer::Max(t), [&](const Indices& i, const Indices& r) {
          std::vector<Expr> inside;
          for (int d = 0; d < 2; ++d) {
            const auto [low, high] = bin(i[0], i[2 + d], d);
            inside.push_back(Ge(r[d], low));
            inside.push_back(Lt(r[d], high));
          }
          const Expr image =
              SafeIndex(ToIndex(rois({i[0], I64(0)})), x.shape()[0]);
          return MakeSelect(All(inside), x({image, i[1], r[0], r[1]}),
                            LowestOf(t));
        });
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          // Bins outside of the image are 0.
          std::vector<Expr> some;
          for (int d = 0; d < 2; ++d) {
            const auto [low, high] = bin(i[0], i[2 + d], d);
            some.push_back(Lt(Max(low, I64(0)), Min(high, x.shape()[2 + d])));
          }
          return MakeSelect(All(some), best(i), MakeConst(t, 0));
        })};
  };
  return def;
}

}  // namespace

absl::Status RegisterSampling(OpRegistry* registry) {
  return RegisterAllOf(
      registry, {GridSample(), RoiAlign(), MaxRoiPool(), DeformColumns()});
}

}  // namespace ingot::relay::ops
