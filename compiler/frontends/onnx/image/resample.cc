#include "compiler/frontends/onnx/image/resample.h"

#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

const DataType kF32 = DataType::Float(32), kF64 = DataType::Float(64);

// One dimension that is resampled: its extents, as numbers too, and the
// enlargement, which may differ a little from out / in. All numbers are f64[1].
struct Axis {
  Expr in, out;
  Value in_number, out_number, scale;
};

Value Number(Compose& k, const Expr& dim) {
  return k.Cast(k.Number(dim), kF64);
}

Axis AxisOf(Compose& k, const Extents& extents, int d, const Expr& in) {
  Axis axis{in, extents.sizes[d], Number(k, in), Number(k, extents.sizes[d]),
            Value{}};
  if (extents.scale_operand) {
    axis.scale = k.Cast(
        k.Slice(extents.scale_operand, 0, tir::MakeInt(d), tir::MakeInt(d + 1)),
        kF64);
  } else if (!extents.scales.empty()) {
    axis.scale = k.Full(kF64, {tir::MakeInt(1)}, extents.scales[d]);
  } else {
    const Value some =
        k.Call("maximum", {axis.in_number, k.Like(axis.in_number, 1)});
    axis.scale = k.Div(axis.out_number, some);
  }
  return axis;
}

// The places in the operand of all elements of the result: f64[out].
absl::StatusOr<Value> Source(Compose& k, const Axis& axis,
                             const std::string& coordinates) {
  const Value x = k.Cast(k.CountUp(axis.out), kF64);
  const Value length = k.Mul(axis.scale, axis.in_number);  // not rounded
  const Value centre = k.Sub(k.Div(k.Add(x, 0.5), axis.scale), 0.5);
  const Value is_one = k.Call("equal", {length, k.Like(length, 1)});
  Value place;
  if (coordinates == "half_pixel") {
    place = centre;
  } else if (coordinates == "asymmetric") {
    place = k.Div(x, axis.scale);
  } else if (coordinates == "align_corners") {
    const Value corner =
        k.Div(k.Mul(x, k.Sub(axis.in_number, 1)), k.Sub(length, 1));
    place = k.Call("where", {is_one, k.Like(corner, 0), corner});
  } else if (coordinates == "pytorch_half_pixel") {
    place = k.Call("where", {is_one, k.Like(centre, -0.5), centre});
  } else if (coordinates == "half_pixel_symmetric") {
    const Value lost = k.Sub(k.Div(axis.out_number, length), 1);
    place = k.Sub(centre, k.Mul(k.Div(axis.in_number, 2), lost));
  } else {
    return k.context().NotSupported(
        "antialias with coordinate_transformation_mode='", coordinates, "'");
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return place;
}

// The filter's weight at a distance, which depends on its sign in nothing.
Value Weight(Compose& k, const Filter& filter, Value distance) {
  const Value x = k.Call("abs", {distance});
  const Value zero = k.Like(x, 0), one = k.Like(x, 1);
  if (!filter.cubic) return k.Call("maximum", {k.Sub(one, x), zero});
  const double a = filter.cubic_a;
  auto times = [&](Value v) { return k.Mul(v, x); };
  const Value inner =
      k.Add(times(times(k.Sub(times(k.Like(x, a + 2)), a + 3))), 1);
  const Value outer = k.Sub(
      times(k.Add(times(k.Sub(times(k.Like(x, a)), 5 * a)), 8 * a)), 4 * a);
  const Value beyond =
      k.Call("where", {k.Call("less", {x, k.Like(x, 2)}), outer, zero});
  return k.Call("where", {k.Call("less_equal", {x, one}), inner, beyond});
}

// The elements that each one of the result is made of, and how much each of
// these counts: [out, taps].
struct Taps {
  Value places, weights;
};

absl::StatusOr<Taps> TapsOf(Compose& k, const Axis& axis,
                            const Filter& filter) {
  INGOT_ASSIGN_OR_RETURN(Value at, Source(k, axis, filter.coordinates));
  // The filter is wider where the result is smaller; not without limit, for a
  // result without elements.
  const Value narrow =
      k.Call("maximum", {k.Call("minimum", {axis.scale, k.Like(axis.scale, 1)}),
                         k.Like(axis.scale, 1e-6)});
  const Value reach = k.Cast(
      k.Call("ceil", {k.Div(k.Like(narrow, filter.cubic ? 2 : 1), narrow)}),
      DataType::Int(64));
  const Value both = k.Mul(reach, 2);
  INGOT_RETURN_IF_ERROR(k.status());
  NodeContext& c = k.context();
  INGOT_ASSIGN_OR_RETURN(
      const Shape taps,
      c.builder().BindDims(both, absl::StrCat(c.name(), "_taps")));
  at = k.Reshape(at, {axis.out, tir::MakeInt(1)});
  const Value first =
      k.Sub(k.Cast(k.Call("ceil", {at}), DataType::Int(64)), reach);
  const Value place = k.Add(first, k.CountUp(taps[0]));
  const Value last = k.Sub(k.Number(axis.in), 1), none = k.Like(place, 0);
  Value weight =
      Weight(k, filter, k.Mul(k.Sub(k.Cast(place, kF64), at), narrow));
  // Samples outside repeat the edge.
  const Value inside =
      k.Call("maximum", {k.Call("minimum", {place, last}), none});
  if (filter.exclude_outside) {
    weight = k.Call(
        "where", {k.Call("equal", {place, inside}), weight, k.Like(weight, 0)});
  }
  weight = k.Div(weight, k.Reduce("reduce_sum", weight, {1}));
  INGOT_RETURN_IF_ERROR(k.status());
  return Taps{inside, k.Cast(weight, kF32)};
}

}  // namespace

absl::StatusOr<Value> ResampleAntialiased(NodeContext& c, Value x,
                                          const Filter& filter,
                                          const Extents& extents) {
  const DataType type = x.type().dtype;
  const int rank = RankOf(x);
  Compose k(c);
  Value y;  // null: no dimension is resampled
  for (int d = 0; d < rank; ++d) {
    const Expr in = ShapeOf(x)[d];
    if (relay::SameShape({in}, {extents.sizes[d]}) &&
        (extents.scales.empty() || extents.scales[d] == 1)) {
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(const Taps taps,
                           TapsOf(k, AxisOf(k, extents, d, in), filter));
    Shape shape = ShapeOf(taps.weights);
    shape.resize(2 + rank - 1 - d, tir::MakeInt(1));
    Attrs attrs;
    attrs.Set("axis", int64_t{d});
    const Value parts = k.Call("gather", {y ? y : k.Cast(x, kF32), taps.places},
                               std::move(attrs));
    y = k.Reduce("reduce_sum", k.Mul(parts, k.Reshape(taps.weights, shape)),
                 {d + 1}, /*keepdims=*/false);
    INGOT_RETURN_IF_ERROR(k.status());
  }
  if (!y) return c.FixShape(x, extents.sizes);
  // To the nearest, as ONNX Runtime does it: weights add up to nearly 1 only,
  // and an image of one colour should stay one. ONNX does not say.
  if (!type.is_float()) y = k.Call("round", {y});
  y = k.Cast(y, type);
  INGOT_RETURN_IF_ERROR(k.status());
  return c.FixShape(y, extents.sizes);
}

}  // namespace ingot::onnx_frontend
