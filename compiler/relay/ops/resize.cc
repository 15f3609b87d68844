// Resampling along any dimensions, by ONNX's rules.
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/ops/common.h"
#include "compiler/te/tags.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay::ops {
namespace {

using Floats = std::vector<double>;

struct Options {
  std::string mode, coordinates, nearest;
  double cubic_a;
  bool exclude_outside;
  double extrapolation;
  Floats scales;  // empty: from the extents, or as the second operand has them
  bool scale_operand, roi_operand;
  Floats roi;  // starts, then ends; for tf_crop_and_resize
  bool wide;   // places and weights have 64 bits
};

Options ReadOptions(const Attrs& attrs) {
  Options o;
  o.mode = attrs.Get<std::string>("mode");
  o.coordinates = attrs.Get<std::string>("coordinate_transformation_mode");
  o.nearest = attrs.Get<std::string>("nearest_mode");
  o.cubic_a = attrs.Get<double>("cubic_coeff_a");
  o.exclude_outside = attrs.Get<int64_t>("exclude_outside") != 0;
  o.extrapolation = attrs.Get<double>("extrapolation_value");
  o.scales = attrs.Get<Floats>("scales");
  o.scale_operand = attrs.Get<int64_t>("scale_operand") != 0;
  o.roi_operand = attrs.Get<int64_t>("roi_operand") != 0;
  o.roi = attrs.Get<Floats>("roi");
  return o;
}

// The indices that an element reads along a dimension, with their weights.
using WeightedIndices = std::vector<std::pair<Expr, Expr>>;

// Numbers of one dimension that operands have; null where they do not.
struct Given {
  Expr scale, start, end;
};

// One resampled dimension at one output position.
class Axis {
 public:
  Axis(const Options& o, int d, int rank, const Expr& i, const Dim& in,
       const Dim& out, const Given& given)
      : o_(o), in_(in), type_(DataType::Float(o.wide ? 64 : 32)) {
    if (ExactNearest(d, i, out)) return;
    const Expr x = MakeCast(type_, i);
    const Expr in_f = MakeCast(type_, in), out_f = MakeCast(type_, out);
    const Expr scale = given.scale != nullptr ? MakeCast(type_, given.scale)
                       : o.scales.empty()     ? out_f / in_f
                                              : C(o.scales[d]);
    const Expr half = C(0.5);
    shrinks_ = Lt(scale, C(1));
    if (o.coordinates == "asymmetric") {
      pos_ = x / scale;
    } else if (o.coordinates == "align_corners") {
      // The length resized to is the scaled one, before it is rounded down.
      const Expr length =
          given.scale == nullptr && o.scales.empty() ? out_f : scale * in_f;
      pos_ = MakeSelect(Gt(out, I64(1)),
                        x * (in_f - C(1)) / Max(length - C(1), C(1e-6)), C(0));
    } else if (o.coordinates == "pytorch_half_pixel") {
      pos_ = MakeSelect(Gt(out, I64(1)), (x + half) / scale - half, C(0));
    } else if (o.coordinates == "tf_half_pixel_for_nn") {
      pos_ = (x + half) / scale;
    } else if (o.coordinates == "half_pixel_symmetric") {
      // Keeps the centre where rounding made the output smaller. In this order
      // places that are whole stay so for scales that are powers of two, which
      // ONNX's own, in / 2 * (1 - out / (scale * in)), does not do.
      const Expr offset = (in_f - out_f / scale) / C(2);
      pos_ = offset + (x + half) / scale - half;
    } else if (o.coordinates == "tf_crop_and_resize") {
      const bool told = given.start != nullptr;
      const Expr start = told ? MakeCast(type_, given.start) : C(o.roi[d]);
      const Expr end = told ? MakeCast(type_, given.end) : C(o.roi[d + rank]);
      const Expr first = start * (in_f - C(1));
      pos_ = MakeSelect(
          Gt(out, I64(1)),
          first + x * (end - start) * (in_f - C(1)) / Max(out_f - C(1), C(1)),
          half * (start + end) * (in_f - C(1)));
      outside_ = Or(Lt(pos_, C(0)), Gt(pos_, in_f - C(1)));
    } else {  // half_pixel
      pos_ = (x + half) / scale - half;
    }
  }

  // Whether the nearest element needs no floats.
  bool is_exact() const { return exact_ != nullptr; }

  // Whether this position takes the extrapolation value; may be null.
  const Expr& outside() const { return outside_; }

  Expr Nearest() const {
    if (exact_ != nullptr) return exact_;
    Expr rounded;
    if (o_.nearest == "floor") {
      rounded = Floor(pos_);
    } else if (o_.nearest == "ceil") {
      rounded = MakeCall(Intrinsic::kCeil, {pos_});
    } else if (o_.nearest == "ceil_where_smaller") {
      rounded =
          MakeSelect(shrinks_, MakeCall(Intrinsic::kCeil, {pos_}), Floor(pos_));
    } else if (o_.nearest == "round_prefer_ceil") {
      rounded = Floor(pos_ + C(0.5));
    } else {
      rounded = MakeCall(Intrinsic::kCeil, {pos_ - C(0.5)});
    }
    return Inside(MakeCast(DataType::Int(64), rounded));
  }

  // The taps' indices and weights.
  WeightedIndices Taps() const {
    return o_.mode == "linear" ? Linear() : Cubic();
  }

 private:
  WeightedIndices Linear() const {
    const Expr low = Floor(pos_);
    const Expr part = pos_ - low;
    const Expr index = MakeCast(DataType::Int(64), low);
    return {{Inside(index), C(1) - part}, {Inside(index + 1), part}};
  }

  WeightedIndices Cubic() const {
    const Expr low = Floor(pos_);
    const Expr s = pos_ - low;
    const Expr index = MakeCast(DataType::Int(64), low);
    const double a = o_.cubic_a;
    auto outer = [&](const Expr& t) {  // 1 <= t < 2
      return ((C(a) * t - C(5 * a)) * t + C(8 * a)) * t - C(4 * a);
    };
    auto inner = [&](const Expr& t) {  // 0 <= t < 1
      return (C(a + 2) * t - C(a + 3)) * t * t + C(1);
    };
    std::vector<Expr> weights = {outer(s + C(1)), inner(s), inner(C(1) - s),
                                 outer(C(2) - s)};
    if (o_.exclude_outside) {
      Expr sum = C(0);
      for (int k = 0; k < 4; ++k) {
        const Expr at = index + (k - 1);
        weights[k] =
            MakeSelect(And(Ge(at, I64(0)), Lt(at, in_)), weights[k], C(0));
        sum = sum + weights[k];
      }
      for (Expr& w : weights) w = w / sum;
    }
    WeightedIndices taps;
    for (int k = 0; k < 4; ++k) {
      taps.emplace_back(Inside(index + (k - 1)), weights[k]);
    }
    return taps;
  }

  Expr C(double value) const { return MakeConst(type_, value); }
  static Expr Floor(const Expr& x) { return MakeCall(Intrinsic::kFloor, {x}); }
  Expr Inside(const Expr& index) const {
    return Max(Min(index, in_ - 1), I64(0));
  }

  // The whole number of times that the output is as long as the input.
  std::optional<int64_t> FactorOf(int d, const Dim& out) const {
    if (o_.scale_operand) return std::nullopt;
    int64_t n_in, n_out;
    if (ConstDim(in_, &n_in) && ConstDim(out, &n_out)) {
      if (n_in < 1 || n_out % n_in != 0) return std::nullopt;
      const int64_t factor = n_out / n_in;
      if (!o_.scales.empty() && o_.scales[d] != static_cast<double>(factor)) {
        return std::nullopt;
      }
      return factor;
    }
    constexpr double kMost = 1 << 20;
    if (o_.scales.empty() || !(o_.scales[d] >= 1 && o_.scales[d] <= kMost)) {
      return std::nullopt;
    }
    const auto factor = static_cast<int64_t>(o_.scales[d]);
    const bool fits = o_.scales[d] == static_cast<double>(factor) &&
                      SameDim(SimplifyDim(in_ * I64(factor)), SimplifyDim(out));
    return fits ? std::make_optional(factor) : std::nullopt;
  }

  // Enlarging by a whole number needs no floats in the usual modes: output i
  // takes input i / scale. Half-pixel positions never fall on a tie then.
  bool ExactNearest(int d, const Expr& i, const Dim& out) {
    if (o_.mode != "nearest") return false;
    const std::optional<int64_t> factor = FactorOf(d, out);
    if (!factor.has_value()) return false;
    int64_t n_out;
    const bool half = o_.coordinates == "half_pixel" ||
                      (o_.coordinates == "pytorch_half_pixel" &&
                       ConstDim(out, &n_out) && n_out > 1);
    const bool rounds =
        o_.nearest == "round_prefer_floor" || o_.nearest == "round_prefer_ceil";
    const bool floors =
        o_.nearest == "floor" || o_.nearest == "ceil_where_smaller";
    if ((o_.coordinates == "asymmetric" && floors) || (half && rounds)) {
      exact_ = FloorDiv(i, *factor);
      return true;
    }
    return false;
  }

  const Options& o_;
  const Dim in_;
  const DataType type_;
  Expr pos_, exact_, outside_, shrinks_;
};

absl::Status CheckOperands(const InferContext& c, const Options& o,
                           size_t rank) {
  struct Operand {
    const char* name;
    bool is_there;
    size_t size;
  };
  size_t at = 1;
  for (const Operand& wanted : {Operand{"scales", o.scale_operand, rank},
                                Operand{"roi", o.roi_operand, 2 * rank}}) {
    if (!wanted.is_there) continue;
    if (!c.has(at) || c.type(at).dtype != DataType::Float(32) ||
        !SameShape(c.type(at).shape,
                   {I64(static_cast<int64_t>(wanted.size))})) {
      return Invalid("operand ", at, " must be the ", wanted.name, ", f32[",
                     wanted.size, "]");
    }
    ++at;
  }
  if (o.scale_operand && !o.scales.empty()) {
    return Invalid("has scales twice");
  }
  if (o.coordinates == "tf_crop_and_resize" && !o.roi_operand &&
      o.roi.size() != 2 * rank) {
    return Invalid("roi must have ", 2 * rank, " values");
  }
  return absl::OkStatus();
}

bool OneOf(const std::string& value,
           std::initializer_list<absl::string_view> known) {
  for (absl::string_view k : known) {
    if (value == k) return true;
  }
  return false;
}

// Elements are made only where the operand has some.
bool MayResample(const Dim& from, const Dim& to,
                 std::vector<DimAssumption>* assumed) {
  if (const auto* symbol = tir::As<tir::Var>(from)) {
    // A multiple or a part of a symbol is nothing where that is.
    const Dim of_none = tir::Substitute(to, {{symbol, I64(0)}});
    if (tir::IsConstInt(SimplifyDim(of_none), 0)) return true;
  }
  const Dim made = HasElements(to);
  return MayBeEqual(SimplifyDim(made * HasElements(from)), made, assumed);
}

absl::StatusOr<Types> Infer(const InferContext& c) {
  const TensorType& x = c.type(0);
  const Shape& sizes = c.attrs.Get<Shape>("sizes");
  const Options o = ReadOptions(c.attrs);
  const size_t rank = x.shape.size();
  if (sizes.size() != rank || (!o.scales.empty() && o.scales.size() != rank)) {
    return Invalid(
        "sizes and scales must have one value for each dimension of ",
        ToString(x));
  }
  INGOT_RETURN_IF_ERROR(CheckOperands(c, o, rank));
  for (double s : o.scales) {
    if (!(s > 0) || !std::isfinite(s)) return Invalid("scale ", s);
  }
  for (size_t d = 0; d < rank; ++d) {
    if (!MayResample(x.shape[d], sizes[d], c.assumed)) {
      return Invalid("dimension ", d, " of ", ToString(x),
                     " has nothing to resample");
    }
  }
  if (!OneOf(o.mode, {"nearest", "linear", "cubic"})) {
    return Invalid("there is no mode '", o.mode, "'");
  }
  if (!OneOf(o.coordinates,
             {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
              "align_corners", "asymmetric", "tf_half_pixel_for_nn",
              "tf_crop_and_resize"})) {
    return Invalid("there is no coordinate_transformation_mode '",
                   o.coordinates, "'");
  }
  if (!OneOf(o.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor",
                         "ceil", "ceil_where_smaller"})) {
    return Invalid("there is no nearest_mode '", o.nearest, "'");
  }
  return Types{{x.dtype, sizes}};
}

// The dimensions of a call: which of them are resampled, and where the points
// of the result lie along these. The others cost nothing.
class Axes {
 public:
  Axes(const ComputeContext& c, const Options& o) : c_(c), o_(o) {}

  bool Resamples(int d) const {
    const te::Tensor& x = c_.inputs[0];
    const int rank = x.rank();
    const bool whole =
        o_.coordinates != "tf_crop_and_resize" ||
        tir::IsConstInt(x.shape()[d], 1) ||
        (!o_.roi_operand && o_.roi[d] == 0 && o_.roi[d + rank] == 1);
    const bool same = SameDim(x.shape()[d], c_.outputs[0].shape[d]) &&
                      (o_.scales.empty() || o_.scales[d] == 1) && whole;
    return !same;
  }

  // Null where the dimension stays as it is.
  std::unique_ptr<Axis> At(int d, const Expr& i) const {
    if (!Resamples(d)) return nullptr;
    const te::Tensor& x = c_.inputs[0];
    const int rank = x.rank();
    Given given;
    if (o_.scale_operand) given.scale = c_.inputs[1]({I64(d)});
    if (o_.roi_operand) {
      const te::Tensor roi = c_.inputs[o_.scale_operand ? 2 : 1];
      given.start = roi({I64(d)});
      given.end = roi({I64(d + rank)});
    }
    return std::make_unique<Axis>(o_, d, rank, i, x.shape()[d],
                                  c_.outputs[0].shape[d], given);
  }

  // The taps of the positions along dimension d: of tables, since they are the
  // same wherever these lie along other dimensions.
  std::function<WeightedIndices(const Expr& i)> TapsAlong(int d) const {
    std::vector<std::pair<te::Tensor, te::Tensor>> tables;
    for (int k = 0; k < (o_.mode == "cubic" ? 4 : 2); ++k) {
      const std::string which = absl::StrCat(d, "_", k);
      tables.emplace_back(
          Table(d, "index_" + which,
                [k](const Axis& axis) { return axis.Taps()[k].first; }),
          Table(d, "weight_" + which,
                [k](const Axis& axis) { return axis.Taps()[k].second; }));
    }
    return [tables](const Expr& i) {
      WeightedIndices taps;
      for (const auto& [index, weight] : tables) {
        taps.emplace_back(index({i}), weight({i}));
      }
      return taps;
    };
  }

  // The indices of the nearest elements along dimension d.
  std::function<Expr(const Expr& i)> NearestAlong(int d) const {
    if (At(d, I64(0))->is_exact()) {
      return [this, d](const Expr& i) { return At(d, i)->Nearest(); };
    }
    const te::Tensor table =
        Table(d, absl::StrCat("index_", d),
              [](const Axis& axis) { return axis.Nearest(); });
    return [table](const Expr& i) { return table({i}); };
  }

  // Whether a point takes the extrapolation value; null where none does.
  Expr Outside(const Indices& i) const {
    Expr outside;
    for (size_t d = 0; d < i.size(); ++d) {
      const std::unique_ptr<Axis> axis = At(static_cast<int>(d), i[d]);
      if (axis == nullptr || axis->outside() == nullptr) continue;
      outside =
          outside == nullptr ? axis->outside() : Or(outside, axis->outside());
    }
    return outside;
  }

 private:
  // Returns a table of the results of `of` for each position along dimension d.
  te::Tensor Table(int d, absl::string_view name,
                   const std::function<Expr(const Axis&)>& of) const {
    return c_.graph.Compute(SubName(c_, name), {c_.outputs[0].shape[d]},
                            [&](const Indices& i) { return of(*At(d, i[0])); },
                            {{te::kTable, "1"}});
  }

  const ComputeContext& c_;
  const Options& o_;
};

// The sums along one dimension after the other, each of which has the ones of
// the dimensions before as its operand.
te::Tensor Interpolate(const ComputeContext& c, const Axes& axes) {
  te::Tensor x = c.inputs[0];
  std::vector<int> dims;
  for (int d = 0; d < x.rank(); ++d) {
    if (axes.Resamples(d)) dims.push_back(d);
  }
  std::vector<Expr> shape = x.shape();
  for (int d : dims) {
    shape[d] = c.outputs[0].shape[d];
    const auto taps = axes.TapsAlong(d);
    auto sum = [&](const Indices& i) {
      Expr total;
      for (const auto& [index, weight] : taps(i[d])) {
        Indices at = i;
        at[d] = index;
        const Expr term = MakeCast(weight->dtype, x(at)) * weight;
        total = total == nullptr ? term : total + term;
      }
      return total;
    };
    std::map<std::string, std::string> tags;
    if (d != dims.back()) tags[te::kTable] = "1";
    x = c.graph.Compute(SubName(c, absl::StrCat("along_", d)), shape, sum,
                        std::move(tags));
  }
  return x;
}

// The elements that are nearest along all dimensions.
te::Tensor TakeNearest(const ComputeContext& c, const Axes& axes) {
  const te::Tensor x = c.inputs[0];
  std::map<int, std::function<Expr(const Expr&)>> nearest;
  for (int d = 0; d < x.rank(); ++d) {
    if (axes.Resamples(d)) nearest[d] = axes.NearestAlong(d);
  }
  return c.graph.Compute(SubName(c, "nearest"), c.outputs[0].shape,
                         [&](Indices i) {
                           for (const auto& [d, at] : nearest) i[d] = at(i[d]);
                           return x(i);
                         });
}

absl::StatusOr<Tensors> Compute(const ComputeContext& c) {
  Options o = ReadOptions(c.attrs);
  o.wide = o.mode == "nearest" || c.inputs[0].dtype().bits == 64;
  const Axes axes(c, o);
  const te::Tensor value =
      o.mode == "nearest" ? TakeNearest(c, axes) : Interpolate(c, axes);
  return Tensors{
      c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
        const DataType type = c.inputs[0].dtype();
        const Expr inside = MakeCast(type, value(i));
        const Expr outside = axes.Outside(i);
        if (outside == nullptr) return inside;
        return MakeSelect(outside, MakeConst(type, o.extrapolation), inside);
      })};
}

}  // namespace

absl::Status RegisterResize(OpRegistry* registry) {
  OpDef def;
  def.name = "resize";
  def.doc = "x resampled to other extents";
  def.max_inputs = -1;  // after x, scales and roi: what binds symbols
  def.fusion = FusionKind::kInjective;
  def.traits = kOperandsInMemory;
  def.layout_rule = LayoutRule::kResizes;
  def.attrs = {
      ShapeAttr("sizes", "extents of the result", kRequired),
      FloatsAttr("scales",
                 "enlargement of each dimension; when empty, it follows from "
                 "the extents",
                 {}),
      IntAttr("scale_operand", "whether the second operand is the scales", 0),
      IntAttr("roi_operand",
              "whether roi is an operand, after the scales if these are", 0),
      StringAttr("mode", "nearest, linear or cubic", "nearest"),
      StringAttr("coordinate_transformation_mode",
                 "half_pixel or another of ONNX's", "half_pixel"),
      StringAttr("nearest_mode",
                 "round_prefer_floor, round_prefer_ceil, floor, ceil, or "
                 "ceil_where_smaller: floor along dimensions that grow",
                 "round_prefer_floor"),
      FloatAttr("cubic_coeff_a", "the coefficient a of cubic interpolation",
                -0.75),
      IntAttr("exclude_outside",
              "whether cubic taps outside of x have weight 0", 0),
      FloatAttr("extrapolation_value",
                "of tf_crop_and_resize: elements outside of x", 0),
      FloatsAttr("roi", "of tf_crop_and_resize: starts, then ends", {})};
  def.infer = &Infer;
  def.compute = &Compute;
  return RegisterAllOf(registry, {std::move(def)});
}

}  // namespace ingot::relay::ops
