// Operators that divide regions of interest (RoIs) of an image into bins.
#include "absl/strings/str_cat.h"
#include "compiler/relay/ops/clamped_load.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"
#include "compiler/relay/ops/taps.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::relay::ops {
namespace {

// The samples of the bins of all RoIs: their places and values.
class RoiBins {
 public:
  explicit RoiBins(const ComputeContext& c)
      : x_(c.inputs[0]),
        rois_(c.inputs[1]),
        batch_(c.inputs[2]),
        half_(c.attrs.Get<int64_t>("half_pixel") != 0),
        scale_(F(c.attrs.Get<double>("spatial_scale"))) {
    for (const char* name : {"output_height", "output_width"}) {
      bins_.push_back(F(static_cast<double>(c.attrs.Get<int64_t>(name))));
    }
  }

  // The number of samples along a bin of RoI r, side 0 (height) or 1, when its
  // size decides: about one per element.
  Expr SamplesAlong(const Expr& r, int side) const {
    const Expr samples = MakeCall(Intrinsic::kCeil, {Size(r, side)});
    return MakeCast(DataType::Int(64),
                    Max(Min(samples, F(kMostSamples)), F(0)));
  }

  // The taps of sample `at`, of so many, along side d of bin `bin` of RoI r;
  // all outside where the sample is too far outside.
  std::vector<Tap> TapsOf(const Expr& r, const Expr& bin, const Expr& at,
                          const Expr& samples, int side) const {
    const Expr place = Position(r, bin, at, samples, side);
    std::vector<Tap> taps = Taps(Edge(side), "linear", place);
    const Expr counts =
        And(Ge(place, F(-1)), Le(place, ToFloat(Edge(side).extent)));
    for (Tap& tap : taps) {
      tap.position = MakeSelect(counts, tap.position, F(-1));
    }
    return taps;
  }

  // The weighted elements of a sample of bin i (RoI, channel, row, column).
  std::vector<Expr> Sample(
      const Indices& i, const std::vector<std::vector<Place>>& places) const {
    const Expr image = SafeIndex(batch_({i[0]}), x_.shape()[0]);
    std::vector<Expr> terms = Terms(x_, {image, i[1]}, places);
    const tir::Bounds bounds = tir::Bounds::Dimensions();
    const Expr some = tir::Simplify(Gt(x_.shape()[0], I64(0)), &bounds);
    for (Expr& term : terms) term = MakeSelect(some, term, F(0));
    return terms;
  }

  // Rows (0) or columns (1): what a position becomes at the edge.
  Coordinate Edge(int side) const {
    return Coordinate{x_.shape()[2 + side], true, Padding::kBorder};
  }

 private:
  // Samples along a bin of many thousand elements; more would take hours.
  static constexpr double kMostSamples = 4096;

  Expr Corner(const Expr& r, int k) const {
    return ToFloat(rois_({r, I64(k)})) * scale_ - F(half_ ? 0.5 : 0);
  }
  // RoIs are x1, y1, x2, y2.
  Expr Start(const Expr& r, int side) const { return Corner(r, 1 - side); }
  // The length of a bin.
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
  const te::Tensor x_, rois_, batch_;
  const bool half_;
  const Expr scale_;
  std::vector<Expr> bins_;  // rows, columns
};

Expr LargestOf(const std::vector<Expr>& values) {
  Expr largest = values[0];
  for (const Expr& value : values) largest = Max(largest, value);
  return largest;
}

// Takes as many samples as the size of each RoI asks for.
absl::StatusOr<Tensors> AdaptiveRoiAlign(const ComputeContext& c, bool max) {
  const RoiBins bins(c);
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
            const std::vector<Expr> terms = bins.Sample(
                i, {PlacesOf(bins.Edge(0),
                             bins.TapsOf(i[0], i[2], y, samples[0], 0)),
                    PlacesOf(bins.Edge(1),
                             bins.TapsOf(i[0], i[3], z, samples[1], 1))});
            if (!max) return total.Set(total.value() + SumOf(terms));
            const Expr largest = LargestOf(terms);
            return tir::MakeSeq(
                {total.Set(MakeSelect(Eq(seen.value(), I64(0)), largest,
                                      Max(total.value(), largest))),
                 seen.Set(1)});
          };
          const Expr count =
              ToFloat(Max(rows.value() * columns.value(), I64(1)));
          return tir::MakeSeq(
              {total.Set(0), seen.Set(0), rows.Set(bins.SamplesAlong(i[0], 0)),
               columns.Set(bins.SamplesAlong(i[0], 1)),
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

// The mean, or the largest tap, of the samples in each bin of each RoI.
OpDef RoiAlign() {
  OpDef def;
  def.name = "roi_align";
  def.doc =
      "means over the bins of the RoIs of x; operands x[n, c, h, w], "
      "rois[r, 4] (x1, y1, x2, y2), batch indices[r]";
  def.min_inputs = def.max_inputs = 3;
  def.fusion = FusionKind::kReduction;
  def.attrs = {
      IntAttr("output_height", "bins", kRequired),
      IntAttr("output_width", "bins", kRequired),
      IntAttr("sampling_ratio", "samples along a bin; 0: about one per element",
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
    const RoiBins bins(c);
    const DataType f32 = DataType::Float(32);
    const Shape& shape = c.outputs[0].shape;
    std::vector<TapTables> tables;
    for (int side = 0; side < 2; ++side) {
      tables.emplace_back(c, absl::StrCat("side", side),
                          Shape{shape[0], shape[2 + side], I64(ratio)},
                          bins.Edge(side), [&](const Indices& i) {
                            return bins.TapsOf(i[0], i[1], i[2], I64(ratio),
                                               side);
                          });
    }
    const te::Tensor total =
        c.graph.Reduce(SubName(c, "total"), shape, {I64(ratio), I64(ratio)},
                       max ? te::Reducer::Max(f32) : te::Reducer::Sum(f32),
                       [&](const Indices& i, const Indices& r) {
                         const std::vector<Expr> terms =
                             bins.Sample(i, {tables[0].At({i[0], i[2], r[0]}),
                                             tables[1].At({i[0], i[3], r[1]})});
                         return max ? LargestOf(terms) : SumOf(terms);
                       });
    const double count = max ? 1 : static_cast<double>(ratio * ratio);
    return Tensors{c.graph.Compute(c.name, shape, [&](const Indices& i) {
      return MakeCast(c.inputs[0].dtype(), total(i) / F(count));
    })};
  };
  return def;
}

OpDef MaxRoiPool() {
  OpDef def;
  def.name = "max_roi_pool";
  def.doc =
      "maxima over the bins of the RoIs of x[n, c, h, w]; rois[r, 5]: image, "
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

absl::Status RegisterRoi(OpRegistry* registry) {
  return RegisterAllOf(registry, {RoiAlign(), MaxRoiPool()});
}

}  // namespace ingot::relay::ops
