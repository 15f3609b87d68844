#include "compiler/relay/import/compose.h"

namespace ingot::relay {

bool Compose::Check(const absl::Status& status) {
  status_.Update(status);
  return status_.ok();
}

Value Compose::Take(absl::StatusOr<Value> value) {
  if (!Check(value.status())) return Value{};
  return *value;
}

Value Compose::Call(absl::string_view op, std::vector<Value> inputs,
                    Attrs attrs) {
  if (!ok()) return Value{};
  return Take(calls_.Emit(op, std::move(inputs), std::move(attrs), op));
}

Value Compose::Like(const Value& a, double value) {
  return ok() ? Take(calls_.Scalar(a.type().dtype, value)) : Value{};
}

Value Compose::Cast(Value a, DataType dtype) {
  return ok() ? Take(calls_.Cast(a, dtype)) : Value{};
}

Value Compose::Reshape(Value a, const Shape& shape) {
  return ok() ? Take(calls_.Reshape(a, shape)) : Value{};
}

Value Compose::Transpose(Value a, std::vector<int64_t> axes) {
  return ok() ? Take(calls_.Transpose(a, std::move(axes))) : Value{};
}

Value Compose::Expand(Value a, const Shape& shape) {
  if (!ok() || SameShape(ShapeOf(a), shape)) return a;
  Attrs attrs;
  attrs.Set("shape", shape);
  return Call("expand", {a}, std::move(attrs));
}

Value Compose::Slice(Value a, int axis, const tir::Expr& start,
                     const tir::Expr& end) {
  Attrs attrs;
  attrs.Set("starts", Shape{start});
  attrs.Set("ends", Shape{end});
  attrs.Set("axes", std::vector<int64_t>{axis});
  return Call("slice", {a}, std::move(attrs));
}

Value Compose::Concat(std::vector<Value> parts, int axis) {
  if (parts.size() == 1) return parts[0];
  Attrs attrs;
  attrs.Set("axis", int64_t{axis});
  return Call("concat", std::move(parts), std::move(attrs));
}

Value Compose::Reduce(absl::string_view op, Value a, std::vector<int64_t> axes,
                      bool keepdims) {
  Attrs attrs;
  attrs.Set("axes", std::move(axes));
  if (!keepdims) attrs.Set("keepdims", int64_t{0});
  return Call(op, {a}, std::move(attrs));
}

Value Compose::Constant(absl::StatusOr<Tensor> tensor) {
  if (!Check(tensor.status())) return Value{};
  return Take(calls_.Constant(*std::move(tensor), "const"));
}

Value Compose::FromDims(absl::string_view op, const Shape& dims, Attrs attrs) {
  if (!ok()) return Value{};
  absl::StatusOr<std::vector<Value>> sources =
      calls_.builder().DimSources(dims);
  if (!Check(sources.status())) return Value{};
  return Call(op, *std::move(sources), std::move(attrs));
}

Value Compose::Full(DataType dtype, const Shape& shape, double value) {
  Attrs attrs;
  attrs.Set("shape", shape);
  attrs.Set("dtype", dtype);
  attrs.Set("value", value);
  return FromDims("full", shape, std::move(attrs));
}

Value Compose::CountUp(const Dim& count) {
  Attrs attrs;
  attrs.Set("count", Shape{count});
  attrs.Set("dtype", DataType::Int(64));
  return FromDims("range", {count}, std::move(attrs));
}

Value Compose::Number(const Dim& dim) {
  Attrs attrs;
  attrs.Set("values", Shape{dim});
  return FromDims("dims", {dim}, std::move(attrs));
}

}  // namespace ingot::relay
