// Operators that read an image at positions given by a tensor.
#include <functional>

#include "compiler/relay/ops/clamped_load.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/families.h"
#include "compiler/relay/ops/loops.h"
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
      if (tir::IsConstInt(x[d], 0)) return Invalid("x has no elements");
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

// ------------------------------------------------------------------ roi_align

// Where the samples of a region's bins are, and what they are.
class Regions {
 public:
  explicit Regions(const ComputeContext& c)
      : x_(c.inputs[0]),
        rois_(c.inputs[1]),
        batch_(c.inputs[2]),
        half_(c.attrs.Get<int64_t>("half_pixel") != 0),
        scale_(F(c.attrs.Get<double>("spatial_scale"))) {
    for (const char* name : {"output_height", "output_width"}) {
      bins_.push_back(F(static_cast<double>(c.attrs.Get<int64_t>(name))));
    }
  }

  // How many samples there are along a bin of region r, side 0 (height) or 1,
  // when its size decides: one an element, about.
  Expr SamplesAlong(const Expr& r, int side) const {
    const Expr samples = MakeCall(Intrinsic::kCeil, {Size(r, side)});
    return MakeCast(DataType::Int(64),
                    Max(Min(samples, F(kMostSamples)), F(0)));
  }

  // The taps, with their weights, of the sample at[0], at[1] of so many in bin
  // i (region, channel, row, column); all 0 where it is too far outside.
  std::vector<Expr> Sample(const Indices& i, const Indices& at,
                           const Indices& samples) const {
    const Expr y = Position(i[0], i[2], at[0], samples[0], 0);
    const Expr z = Position(i[0], i[3], at[1], samples[1], 1);
    const Expr counts = And(Counts(y, 2), Counts(z, 3));
    std::vector<Expr> taps;
    for (const Tap& a : TapsAt(y, 2)) {
      for (const Tap& b : TapsAt(z, 3)) {
        const Expr element =
            ClampedLoad(x_,
                        {SafeIndex(batch_({i[0]}), x_.shape()[0]), i[1],
                         Edge(2).Index(a.position), Edge(3).Index(b.position)},
                        {0, 2, 3});
        taps.push_back(
            MakeSelect(counts, ToFloat(element) * (a.weight * b.weight), F(0)));
      }
    }
    return taps;
  }

 private:
  // Of a bin of many thousand elements; more would be the work of hours.
  static constexpr double kMostSamples = 4096;

  Expr Corner(const Expr& r, int k) const {
    return ToFloat(rois_({r, I64(k)})) * scale_ - F(half_ ? 0.5 : 0);
  }
  // Regions are x1, y1, x2, y2.
  Expr Start(const Expr& r, int side) const { return Corner(r, 1 - side); }
  // Of a bin.
  Expr Size(const Expr& r, int side) const {
    const Expr length = Corner(r, 3 - side) - Start(r, side);
    return (half_ ? length : Max(length, F(1))) / bins_[side];
  }
  Expr Position(const Expr& r, const Expr& bin, const Expr& at,
                const Expr& samples, int side) const {
    const Expr size = Size(r, side);
    return Start(r, side) + ToFloat(bin) * size +
           (ToFloat(at) + F(0.5)) * size / ToFloat(samples);
  }
  // Samples up to one element outside count as on the edge.
  Expr Counts(const Expr& at, int d) const {
    return And(Ge(at, F(-1)), Le(at, ToFloat(x_.shape()[d])));
  }
  Coordinate Edge(int d) const {
    return Coordinate{x_.shape()[d], true, Padding::kBorder};
  }
  std::vector<Tap> TapsAt(const Expr& at, int d) const {
    return Taps(Edge(d), "linear", at);
  }

  const te::Tensor x_, rois_, batch_;
  const bool half_;
  const Expr scale_;
  std::vector<Expr> bins_;  // rows, columns
};

Expr SumOf(const std::vector<Expr>& values) {
  Expr sum = F(0);
  for (const Expr& value : values) sum = sum + value;
  return sum;
}

Expr LargestOf(const std::vector<Expr>& values) {
  Expr largest = values[0];
  for (const Expr& value : values) largest = Max(largest, value);
  return largest;
}

// As many samples as the size of each region asks for.
absl::StatusOr<Tensors> AdaptiveRoiAlign(const ComputeContext& c, bool max) {
  const Regions regions(c);
  const TensorType& type = c.outputs[0];
  const DataType f32 = DataType::Float(32), i64 = DataType::Int(64);
  return c.graph.Extern(
      c.name, {type.shape}, {type.dtype},
      Tensors(c.inputs.begin(), c.inputs.end()),
      [&](absl::Span<const te::Tensor> out) {
        const Cell total("total", f32), seen("seen", i64);
        const Cell rows("rows", i64), columns("columns", i64);
        const Indices samples = {rows.value(), columns.value()};
        auto bin = [&](const Indices& i) {
          auto take = [&](const Expr& y, const Expr& z) {
            const std::vector<Expr> taps = regions.Sample(i, {y, z}, samples);
            if (!max) return total.Set(total.value() + SumOf(taps));
            const Expr largest = LargestOf(taps);
            return tir::MakeSeq(
                {total.Set(MakeSelect(Eq(seen.value(), I64(0)), largest,
                                      Max(total.value(), largest))),
                 seen.Set(1)});
          };
          const Expr count =
              ToFloat(Max(rows.value() * columns.value(), I64(1)));
          return tir::MakeSeq(
              {total.Set(0), seen.Set(0),
               rows.Set(regions.SamplesAlong(i[0], 0)),
               columns.Set(regions.SamplesAlong(i[0], 1)),
               Loop("y", rows.value(),
                    [&](const Expr& y) {
                      return Loop("z", columns.value(),
                                  [&](const Expr& z) { return take(y, z); });
                    }),
               tir::MakeStore(
                   out[0].buffer, i,
                   MakeCast(type.dtype,
                            max ? total.value() : total.value() / count))});
        };
        return WithCells({&total, &seen, &rows, &columns},
                         LoopNest(type.shape, "i", bin));
      });
}

// The mean, or the largest tap, of the samples in each bin of each region.
OpDef RoiAlign() {
  OpDef def;
  def.name = "roi_align";
  def.doc =
      "means over the bins of regions of x; operands x[n, c, h, w], "
      "rois[r, 4] (x1, y1, x2, y2), batch indices[r]";
  def.min_inputs = def.max_inputs = 3;
  def.fusion = FusionKind::kReduction;
  def.attrs = {
      IntAttr("output_height", "bins", kRequired),
      IntAttr("output_width", "bins", kRequired),
      IntAttr("sampling_ratio", "samples along a bin; 0: one an element, about",
              kRequired),
      StringAttr("mode", "avg or max", "avg"),
      FloatAttr("spatial_scale", "of the rois' coordinates", 1),
      IntAttr("half_pixel", "whether coordinates count from centres", 1)};
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
    for (const char* name : {"output_height", "output_width"}) {
      const int64_t v = c.attrs.Get<int64_t>(name);
      if (v < 1 || v > 65536) return Invalid(name, "=", v);
      out.push_back(I64(v));
    }
    const int64_t ratio = c.attrs.Get<int64_t>("sampling_ratio");
    if (ratio < 0 || ratio > 65536) return Invalid("sampling_ratio=", ratio);
    const std::string mode = c.attrs.Get<std::string>("mode");
    if (mode != "avg" && mode != "max") {
      return Invalid("there is no mode '", mode, "'");
    }
    return Types{{c.type(0).dtype, out}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const bool max = c.attrs.Get<std::string>("mode") == "max";
    const int64_t ratio = c.attrs.Get<int64_t>("sampling_ratio");
    if (ratio == 0) return AdaptiveRoiAlign(c, max);
    const Regions regions(c);
    const DataType f32 = DataType::Float(32);
    const Indices samples = {I64(ratio), I64(ratio)};
    const te::Tensor total = c.graph.Reduce(
        SubName(c, "total"), c.outputs[0].shape, {samples[0], samples[1]},
        max ? te::Reducer::Max(f32) : te::Reducer::Sum(f32),
        [&](const Indices& i, const Indices& r) {
          const std::vector<Expr> taps = regions.Sample(i, r, samples);
          return max ? LargestOf(taps) : SumOf(taps);
        });
    const double count = max ? 1 : static_cast<double>(ratio * ratio);
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          return MakeCast(c.inputs[0].dtype(), total(i) / F(count));
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
  def.attrs = {IntsAttr("kernel", "extent of the window", kRequired),
               StridesAttr(), PadsAttr(), DilationsAttr(),
               IntAttr("offset_groups", "of channels with offsets", 1)};
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
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], offset = c.inputs[1];
    INGOT_ASSIGN_OR_RETURN(
        Window w,
        ReadWindow(c.attrs, c.attrs.Get<std::vector<int64_t>>("kernel")));
    const int64_t taps = w.kernel[0] * w.kernel[1];
    const int64_t groups = c.attrs.Get<int64_t>("offset_groups");
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
  def.attrs = {IntAttr("output_height", "bins", kRequired),
               IntAttr("output_width", "bins", kRequired),
               FloatAttr("spatial_scale", "of the rois' coordinates", 1)};
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
    const Expr scale = F(c.attrs.Get<double>("spatial_scale"));
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
          return MakeSelect(All(inside),
                            ClampedLoad(x, {image, i[1], r[0], r[1]}, {0}),
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
