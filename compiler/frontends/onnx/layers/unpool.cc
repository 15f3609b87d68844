#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/shape/pad.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

constexpr int64_t kLargest = int64_t{1} << 31;

Expr ProductOf(const Shape& dims) {
  Expr product = tir::MakeInt(1);
  for (const Expr& d : dims) product = product * d;
  return SimplifyDim(product);
}

// The shape that a pool with the node's attributes makes x from.
absl::StatusOr<Shape> ShapeBeforePool(NodeContext& c, const Shape& x) {
  const size_t n = x.size() - 2;
  const std::vector<int64_t> kernel = c.Ints("kernel_shape");
  const std::vector<int64_t> strides =
      c.Ints("strides", std::vector<int64_t>(n, 1));
  const std::vector<int64_t> pads =
      c.Ints("pads", std::vector<int64_t>(2 * n, 0));
  if (kernel.size() != n || strides.size() != n || pads.size() != 2 * n) {
    return c.Error("kernel_shape, strides or pads do not fit ", n,
                   " dimensions");
  }
  Shape shape = {x[0], x[1]};
  for (size_t d = 0; d < n; ++d) {
    int64_t extent = 0;
    tir::AsConstInt(x[2 + d], &extent);
    if (strides[d] < 1 || strides[d] > kLargest || kernel[d] < 1 ||
        kernel[d] > kLargest || extent > kLargest || pads[d] < 0 ||
        pads[d] > kLargest || pads[n + d] < 0 || pads[n + d] > kLargest) {
      return c.Error("strides or kernel out of range");
    }
    const Expr size = SimplifyDim((x[2 + d] - 1) * strides[d] +
                                  (kernel[d] - pads[d] - pads[n + d]));
    if (tir::AsConstInt(size, &extent) && extent < 0) {
      return c.Error("the pads are larger than the result");
    }
    shape.push_back(size);
  }
  return shape;
}

// y with its last elements cut off, or zeros after them.
absl::StatusOr<Value> Resized(NodeContext& c, Value y, const Shape& shape) {
  const size_t rank = shape.size();
  Compose k(c);
  Shape pads(2 * rank, tir::MakeInt(0));
  for (size_t d = 0; d < rank && k.ok(); ++d) {
    const Expr extent = ShapeOf(y)[d];
    const Expr kept = SimplifyDim(Min(extent, shape[d]));
    if (!relay::SameShape({kept}, {extent})) {
      y = k.Slice(y, static_cast<int>(d), tir::MakeInt(0), kept);
    }
    pads[rank + d] = SimplifyDim(shape[d] - kept);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  y = PadBySymbols(k, y, pads, "constant", 0);
  INGOT_RETURN_IF_ERROR(k.status());
  return c.FixShape(y, shape);
}

// Puts each element at the place that its index names, zeros elsewhere.
absl::Status MaxUnpool(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(const Value indices, c.Input(1));
  if (RankOf(x) < 3) {
    return c.Error("the operand ", relay::ToString(x.type()),
                   " should have a dimension after the second");
  }
  INGOT_ASSIGN_OR_RETURN(const Shape natural, ShapeBeforePool(c, ShapeOf(x)));
  Compose k(c);
  const Value zeros = k.Full(x.type().dtype, {ProductOf(natural)}, 0);
  const Shape line = {ProductOf(ShapeOf(x))};
  Value y = k.Call("scatter_elements",
                   {zeros, k.Reshape(indices, line), k.Reshape(x, line)});
  y = k.Reshape(y, natural);
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.has_input(2)) {
    // Indices count in the natural shape; a larger one only adds to its end.
    INGOT_ASSIGN_OR_RETURN(const Shape shape,
                           c.RunTimeExtents(2, "output_shape", kLargest));
    if (shape.size() != natural.size()) {
      return c.Error("output_shape has ", shape.size(), " dimensions");
    }
    INGOT_ASSIGN_OR_RETURN(y, Resized(c, y, shape));
  }
  c.SetOutput(0, y);
  return absl::OkStatus();
}

}  // namespace

void AddUnpoolConverters(ConverterTable* t) {
  t->Add("MaxUnpool", 9, &MaxUnpool);
}

}  // namespace ingot::onnx_frontend
