#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/context.h"
#include "compiler/frontends/onnx/layers/attention.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {

Value SplitHeads(Compose& k, Value x, int64_t heads) {
  NodeContext& c = k.context();
  int64_t width;
  if (!k.ok()) return Value{};
  const Shape& in = ShapeOf(x);
  if (heads < 1 || in.size() != 3 || !tir::AsConstInt(in[2], &width) ||
      width % heads != 0) {
    k.Check(c.Error(heads, " heads of ", relay::ToString(x.type())));
    return Value{};
  }
  x = k.Reshape(x, {in[0], in[1], I(heads), I(width / heads)});
  return k.Transpose(x, {0, 2, 1, 3});
}

Value JoinHeads(Compose& k, Value x) {
  x = k.Transpose(x, {0, 2, 1, 3});
  if (!k.ok()) return Value{};
  const Shape& in = ShapeOf(x);
  return k.Reshape(x, {in[0], in[1], SimplifyDim(in[2] * in[3])});
}

absl::Status CheckHeads(Compose& k, const Value& q, const Value& key,
                        const Value& value) {
  INGOT_RETURN_IF_ERROR(k.status());
  int64_t q_heads, heads;
  if (!tir::AsConstInt(ShapeOf(q)[1], &q_heads) ||
      !tir::AsConstInt(ShapeOf(key)[1], &heads) || heads < 1 ||
      q_heads % heads != 0 ||
      !relay::SameShape({ShapeOf(key)[1]}, {ShapeOf(value)[1]})) {
    return k.context().Error("heads of ", relay::ToString(q.type()), ", ",
                             relay::ToString(key.type()), " and ",
                             relay::ToString(value.type()), " do not fit");
  }
  return absl::OkStatus();
}

Value Attend(Compose& k, Value q, Value key, Value value,
             const AttentionOptions& o) {
  if (!k.ok()) return Value{};
  std::vector<Value> inputs = {q,        key,       value, o.bias,
                               o.places, o.lengths, o.sink};
  while (inputs.back().node == nullptr) inputs.pop_back();
  Attrs attrs;
  attrs.Set("scale", o.scale);
  attrs.Set("softcap", o.softcap);
  attrs.Set("left", o.left);
  attrs.Set("right", o.right);
  attrs.Set("masked_zero", int64_t{o.masked_zero});
  // Scores of 16 bits are kept in 32 anyway.
  if (o.precision.bits > 32 && q.type().dtype.bits < o.precision.bits) {
    attrs.Set("precision", o.precision);
  }
  return k.Call("attention", std::move(inputs), std::move(attrs));
}

Value PlacesOfQueries(Compose& k, const tir::Expr& queries,
                      const tir::Expr& past) {
  return k.Reshape(k.Add(k.CountUp(queries), k.Number(past)), {queries, I(1)});
}

Value MaskToBias(Compose& k, Value mask, DataType dtype, Value bias) {
  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  if (!k.ok()) return Value{};
  NodeContext& c = k.context();
  if (!bias) bias = k.Take(c.Scalar(dtype, 0));
  return k.Call("where", {mask, bias, k.Take(c.Scalar(dtype, kMinusInfinity))});
}

namespace {

// The product of x, [b, h, s, d], with a matrix of its own for each head of
// `right`, several of x's heads in a row being rows of one.
Value ProductByHead(Compose& k, Value x, Value right) {
  if (!k.ok()) return Value{};
  const Shape in = ShapeOf(x), r = ShapeOf(right);
  int64_t heads, kept;
  if (!tir::AsConstInt(in[1], &heads) || !tir::AsConstInt(r[1], &kept) ||
      heads == kept || kept < 1) {
    return k.Call("matmul", {x, right});
  }
  x = k.Reshape(x, {in[0], r[1], SimplifyDim(in[2] * (heads / kept)), in[3]});
  return k.Reshape(k.Call("matmul", {x, right}), {in[0], in[1], in[2], r[3]});
}

}  // namespace

Value ScoresOf(Compose& k, Value q, Value key, double scale) {
  return ProductByHead(k, k.Mul(q, scale), k.Transpose(key, {0, 1, 3, 2}));
}

Value WeightedSum(Compose& k, Value weights, Value value) {
  return ProductByHead(k, weights, value);
}

Value Softmax(Compose& k, Value scores) {
  Attrs attrs;
  attrs.Set("axis", int64_t{-1});
  return k.Call("softmax", {scores}, std::move(attrs));
}

absl::StatusOr<DataType> SoftmaxType(NodeContext& c, DataType otherwise) {
  const int64_t type = c.Int("softmax_precision", 0);
  if (type == 0) return otherwise;
  INGOT_ASSIGN_OR_RETURN(const DataType dtype,
                         DataTypeFromOnnx(static_cast<int>(type)));
  if (dtype.is_float()) return dtype;
  return c.Error("softmax_precision=", type, ", which is no type of floats");
}

absl::StatusOr<double> ScaleOf(NodeContext& c, const Value& q,
                               const Value& key) {
  if (const double scale = c.Float("scale", 0); scale != 0) return scale;
  int64_t size;
  if (!tir::AsConstInt(ShapeOf(q)[3], &size) &&
      !tir::AsConstInt(ShapeOf(key)[3], &size)) {
    return c.NotSupported(
        "a size of heads that only a run knows, without the "
        "attribute scale");
  }
  return 1 / std::sqrt(static_cast<double>(size));
}

}  // namespace ingot::onnx_frontend
