#include "compiler/frontends/onnx/shape/run_time_axes.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/context.h"

namespace ingot::onnx_frontend {
namespace {

const DataType kI64 = DataType::Int(64);

// The dimensions of x as numbers, i64[rank].
Value DimsOf(Compose& k, const Value& x) {
  NodeContext& c = k.context();
  return k.Take(
      c.builder().DimsTensor(ShapeOf(x), absl::StrCat(c.name(), "_dims")));
}

Value AddUp(Compose& k, Value a, int64_t axis) {
  return k.Reduce("reduce_sum", a, {axis}, /*keepdims=*/false);
}

// Products of what comes after each element.
Value StridesOf(Compose& k, Value dims) {
  Attrs attrs;
  attrs.Set("exclusive", int64_t{1});
  attrs.Set("reverse", int64_t{1});
  return k.Call("cumprod", {dims}, std::move(attrs));
}

// Numbers those that are `kept`, i64[n] of 0 and 1.
Value PlacesOf(Compose& k, Value kept) {
  return k.Sub(k.Call("cumsum", {kept}), 1);
}

// Those of `dims` that are not listed.
Value Others(Compose& k, const RunTimeAxes& axes, Value dims, int rank) {
  const int64_t left = rank - axes.count();
  const Value kept = k.Sub(k.Like(axes.listed(), 1), axes.listed());
  const Value places = k.Reshape(PlacesOf(k, kept), {I(1), I(rank)});
  const Value here = k.Cast(
      k.Call("equal", {k.Reshape(k.CountUp(I(left)), {I(left), I(1)}), places}),
      kI64);
  return AddUp(k, k.Mul(here, k.Mul(kept, dims)), 1);
}

// The places in a tensor of the elements of the part that has the dimensions
// `part`, each either that of the tensor or 1, in order: i64[count].
Value PlacesOfPart(Compose& k, const tir::Expr& count, Value part,
                   Value strides) {
  const Value number = k.Reshape(k.CountUp(count), {count, I(1)});
  const Value index = k.Call("mod", {k.Div(number, StridesOf(k, part)), part});
  return AddUp(k, k.Mul(index, strides), 1);
}

}  // namespace

absl::StatusOr<RunTimeAxes> RunTimeAxes::Of(Compose& k, Value axes, int rank) {
  NodeContext& c = k.context();
  INGOT_RETURN_IF_ERROR(k.status());
  RunTimeAxes read;
  const auto shape = relay::ConstShape(ShapeOf(axes));
  if (!shape || shape->size() > 1) {
    return c.NotSupported("how many axes there are is not known: they are ",
                          relay::ToString(axes.type()));
  }
  read.count_ = shape->empty() ? 1 : (*shape)[0];
  if (read.count_ > rank) {
    return c.Error(read.count_, " axes of ", rank, " dimensions");
  }
  axes = k.Reshape(k.Cast(axes, kI64), {I(1), I(read.count_)});
  axes = k.Call("where", {k.Call("less", {axes, k.Like(axes, 0)}),
                          k.Add(axes, rank), axes});
  read.at_ = k.Cast(
      k.Call("equal", {axes, k.Reshape(k.CountUp(I(rank)), {I(rank), I(1)})}),
      kI64);
  read.listed_ = AddUp(k, read.at_, 1);
  // Each axis is one of the dimensions, and another one than the others.
  const Value found =
      k.Reduce("reduce_sum",
               k.Call("minimum", {read.listed_, k.Like(read.listed_, 1)}), {0});
  read.valid_ =
      k.Call("equal", {found, k.Like(found, static_cast<double>(read.count_))});
  INGOT_RETURN_IF_ERROR(k.status());
  return read;
}

Value RunTimeAxes::Spread(Compose& k, Value values, Value otherwise) const {
  const Value spread = AddUp(
      k, k.Mul(at_, k.Reshape(k.Cast(values, kI64), {I(1), I(count_)})), 1);
  return k.Call("where",
                {k.Cast(listed_, DataType::Bool()), spread, otherwise});
}

absl::StatusOr<Shape> RunTimeAxes::Bind(Compose& k, Value sizes,
                                        absl::string_view what) const {
  NodeContext& c = k.context();
  // No dimension is negative, which binding it says.
  sizes = k.Call("where", {valid_, sizes, k.Like(sizes, -1)});
  INGOT_RETURN_IF_ERROR(k.status());
  if (tir::IsConstInt(ShapeOf(sizes)[0], 0)) return Shape{};
  return c.builder().BindDims(sizes, absl::StrCat(c.name(), "_", what));
}

absl::StatusOr<Value> SqueezeAtRunTime(NodeContext& c, Value x, int i) {
  Compose k(c);
  const int rank = RankOf(x);
  INGOT_ASSIGN_OR_RETURN(const RunTimeAxes axes,
                         RunTimeAxes::Of(k, k.Input(i), rank));
  // The elements are too many if a dimension that goes is not 1.
  const Value others = Others(k, axes, DimsOf(k, x), rank);
  INGOT_ASSIGN_OR_RETURN(const Shape shape, axes.Bind(k, others, "squeezed"));
  return c.Reshape(x, shape, "");
}

absl::StatusOr<Value> UnsqueezeAtRunTime(NodeContext& c, Value x, int i) {
  Compose k(c);
  int64_t count = 1;
  INGOT_ASSIGN_OR_RETURN(const Value operand, c.Input(i));
  if (RankOf(operand) == 1 && !tir::AsConstInt(ShapeOf(operand)[0], &count)) {
    return c.NotSupported("how many axes there are is not known");
  }
  const int rank = RankOf(x) + static_cast<int>(count);
  INGOT_ASSIGN_OR_RETURN(const RunTimeAxes axes,
                         RunTimeAxes::Of(k, k.Input(i), rank));
  const Value kept = k.Sub(k.Like(axes.listed(), 1), axes.listed());
  const Value place = k.Call("maximum", {PlacesOf(k, kept), k.Like(kept, 0)});
  Value dims = k.Full(kI64, {I(rank)}, 1);
  if (RankOf(x) > 0) {
    dims = k.Call("where", {k.Cast(kept, DataType::Bool()),
                            k.Call("gather", {DimsOf(k, x), place}), dims});
  }
  INGOT_ASSIGN_OR_RETURN(const Shape shape, axes.Bind(k, dims, "unsqueezed"));
  return c.Reshape(x, shape, "");
}

// The elements of each result next to each other, as a matrix whose rows are
// reduced.
absl::StatusOr<Value> ReduceAtRunTime(NodeContext& c, absl::string_view op,
                                      Value x, int i, bool keepdims) {
  Compose k(c);
  const int rank = RankOf(x);
  INGOT_ASSIGN_OR_RETURN(const RunTimeAxes axes,
                         RunTimeAxes::Of(k, k.Input(i), rank));
  const Value dims = DimsOf(k, x), one = k.Like(dims, 1);
  const Value is_axis = k.Cast(axes.listed(), DataType::Bool());
  const Value kept = k.Call("where", {is_axis, one, dims});
  const Value reduced = k.Call("where", {is_axis, dims, one});
  INGOT_ASSIGN_OR_RETURN(
      const Shape sizes,
      axes.Bind(k,
                k.Concat({k.Reduce("reduce_prod", kept, {0}),
                          k.Reduce("reduce_prod", reduced, {0})},
                         0),
                "matrix"));
  const Value strides = StridesOf(k, dims);
  const Value row = PlacesOfPart(k, sizes[0], kept, strides);
  const Value column = PlacesOfPart(k, sizes[1], reduced, strides);
  const Value places = k.Add(k.Reshape(row, {sizes[0], I(1)}), column);
  tir::Expr elements = I(1);
  for (const tir::Expr& d : ShapeOf(x)) elements = elements * d;
  const Value matrix =
      k.Call("gather", {k.Reshape(x, {SimplifyDim(elements)}), places});
  const Value y = k.Reduce(op, matrix, {1}, /*keepdims=*/false);
  INGOT_ASSIGN_OR_RETURN(
      const Shape shape,
      axes.Bind(k, keepdims ? kept : Others(k, axes, dims, rank), "reduced"));
  return c.Reshape(y, shape, "");
}

absl::StatusOr<Value> SliceAtRunTime(NodeContext& c, Value x) {
  Compose k(c);
  const int rank = RankOf(x);
  const Value starts = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(starts) != 1) {
    return c.Error("starts are ", relay::ToString(starts.type()));
  }
  const Value given =
      c.has_input(3) ? k.Input(3) : k.CountUp(ShapeOf(starts)[0]);
  INGOT_ASSIGN_OR_RETURN(const RunTimeAxes axes,
                         RunTimeAxes::Of(k, given, rank));
  const Value dims = DimsOf(k, x);
  const Value zero = k.Like(dims, 0), one = k.Like(dims, 1);
  // No extent is as large, and sums of such numbers are numbers.
  auto limited = [&](Value v) {
    Attrs attrs;
    attrs.Set("min", -std::ldexp(1.0, 40));
    attrs.Set("max", std::ldexp(1.0, 40));
    return k.Call("clip", {k.Cast(v, kI64)}, std::move(attrs));
  };
  auto operand = [&](int i, Value otherwise) {
    return axes.Spread(k, limited(k.Input(i)), otherwise);
  };
  const Value step =
      c.has_input(4) ? operand(4, one) : k.Full(kI64, {I(rank)}, 1);
  const Value back = k.Call("less", {step, zero});
  auto either = [&](Value if_back, Value otherwise) {
    return k.Call("where", {back, if_back, otherwise});
  };
  // Positions from the front, inside of x or just beside it.
  auto position = [&](Value v, Value low_if_back) {
    v = k.Call("where", {k.Call("less", {v, zero}), k.Add(v, dims), v});
    v = k.Call("minimum", {v, either(k.Sub(dims, 1), dims)});
    return k.Call("maximum", {v, either(low_if_back, zero)});
  };
  const Value start = position(operand(1, zero), zero);
  const Value end = position(operand(2, dims), k.Sub(zero, one));
  const Value stride = k.Call("maximum", {k.Call("abs", {step}), one});
  const Value span = either(k.Sub(start, end), k.Sub(end, start));
  Value count =
      k.Call("maximum", {k.Div(k.Sub(k.Add(span, stride), 1), stride), zero});
  count = k.Call("minimum", {count, dims});
  // A step of 0 has no count.
  count =
      k.Call("where", {k.Call("equal", {step, zero}), k.Sub(zero, one), count});
  INGOT_ASSIGN_OR_RETURN(const Shape counts, axes.Bind(k, count, "counts"));
  for (int d = 0; d < rank; ++d) {
    auto at = [&](Value v) { return k.Slice(v, 0, I(d), I(d + 1)); };
    const Value indices =
        k.Add(k.Mul(k.CountUp(counts[d]), at(step)), at(start));
    Attrs attrs;
    attrs.Set("axis", int64_t{d});
    x = k.Call("gather", {x, indices}, std::move(attrs));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return x;
}

}  // namespace ingot::onnx_frontend
