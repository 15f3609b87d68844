#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

// Centres (or, with align_corners, corners) of `count` elements in [-1, 1], as
// f64[count]; one element has its corner at -1.
Value Places(Compose& k, const tir::Expr& count, bool align_corners) {
  const DataType f64 = DataType::Float(64);
  const Value at = k.Cast(k.CountUp(count), f64);
  const Value n = k.Cast(k.Number(count), f64);
  if (align_corners) {
    const Value steps = k.Call("maximum", {k.Sub(n, 1), k.Like(n, 1)});
    return k.Sub(k.Div(k.Mul(at, 2), steps), 1);
  }
  return k.Sub(k.Div(k.Add(k.Mul(at, 2), 1), n), 1);
}

// (x, y, 1) or (x, y, z, 1) of every element: [elements, dimensions + 1].
Value Grid(Compose& k, const Shape& extents, bool align_corners,
           DataType dtype) {
  const size_t n = extents.size();
  Shape whole = extents;
  whole.push_back(tir::MakeInt(1));
  std::vector<Value> columns;
  tir::Expr count = tir::MakeInt(1);
  for (size_t d = n; d-- > 0;) {
    Shape alone(n + 1, tir::MakeInt(1));
    alone[d] = extents[d];
    const Value places = k.Cast(Places(k, extents[d], align_corners), dtype);
    columns.push_back(k.Expand(k.Reshape(places, alone), whole));
    count = count * extents[d];
  }
  columns.push_back(k.Full(dtype, whole, 1));
  return k.Reshape(
      k.Concat(std::move(columns), static_cast<int>(n)),
      {SimplifyDim(count), tir::MakeInt(static_cast<int64_t>(n) + 1)});
}

// theta times the places of every element.
absl::Status AffineGrid(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value theta, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(const Shape size,
                         c.RunTimeExtents(1, "size", int64_t{1} << 20));
  const int64_t n = static_cast<int64_t>(size.size()) - 2;
  if (n < 2 || n > 3 || RankOf(theta) != 3) {
    return c.Error("size must have 4 or 5 values, theta rank 3");
  }
  const Shape extents(size.begin() + 2, size.end());
  const tir::Expr batch = ShapeOf(theta)[0];
  INGOT_ASSIGN_OR_RETURN(
      theta, c.FixShape(theta, {batch, tir::MakeInt(n), tir::MakeInt(n + 1)},
                        "theta"));
  Compose k(c);
  const Value grid =
      Grid(k, extents, c.Int("align_corners", 0) != 0, theta.type().dtype);
  const Value y = k.Call("matmul", {grid, k.Transpose(theta, {0, 2, 1})});
  Shape shape = {batch};
  shape.insert(shape.end(), extents.begin(), extents.end());
  shape.push_back(tir::MakeInt(n));
  c.SetOutput(0, k.Reshape(y, shape));
  return k.status();
}

}  // namespace

void AddAffineGridConverters(ConverterTable* t) {
  t->Add("AffineGrid", 20, &AffineGrid);
}

}  // namespace ingot::onnx_frontend
