#include "compiler/frontends/onnx/elements.h"

#include <utility>

#include "compiler/frontends/onnx/compose.h"
#include "compiler/frontends/onnx/tensor_proto.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

Value ParseText(Compose& k, Value x, DataType dtype) {
  // Narrow types by way of a wider one, which rounds once more.
  const bool direct = (dtype.is_float() && dtype.bits >= 32) ||
                      (dtype.is_integer() && dtype.bits >= 32);
  Attrs attrs;
  attrs.Set("dtype", direct ? dtype : DataType::Float(32));
  return k.Cast(k.Call("parse_number", {x}, std::move(attrs)), dtype);
}

// Floats are rounded and limited; of integers the low four bits are kept.
Value ToFourBits(Compose& k, Value x, const ElementType& to) {
  if (!k.ok()) return Value{};
  const bool is_signed = to.stored == kInt4;
  if (x.type().dtype.is_float()) {
    Attrs limits;
    limits.Set("min", is_signed ? -8.0 : 0.0);
    limits.Set("max", is_signed ? 7.0 : 15.0);
    x = k.Call("clip", {k.Call("round", {x})}, std::move(limits));
    return k.Cast(x, to.dtype);
  }
  x = k.Cast(x, to.dtype);
  x = k.Call("bitwise_and", {x, k.Like(x, 15)});
  if (!is_signed) return x;
  // The fourth bit is the sign.
  return k.Sub(k.Call("bitwise_xor", {x, k.Like(x, 8)}), 8);
}

}  // namespace

absl::StatusOr<ElementType> ElementType::Of(int onnx_type) {
  if (IsStoredType(onnx_type)) {
    return ElementType{CarrierOf(onnx_type), onnx_type};
  }
  INGOT_ASSIGN_OR_RETURN(DataType dtype, DataTypeFromOnnx(onnx_type));
  return ElementType{dtype};
}

ElementType ElementType::OfInput(const NodeContext& c, int i, const Value& x) {
  return {x.type().dtype, c.stored(i)};
}

absl::StatusOr<Value> ConvertElements(NodeContext& c, Value x,
                                      const ElementType& from,
                                      const ElementType& to, bool saturate) {
  if (from.stored != 0 && from.stored == to.stored) return x;
  Compose k(c);
  const DataType f32 = DataType::Float(32);
  if (from.stored == kTextType) {
    x = ParseText(k, x, to.stored == 0 ? to.dtype : f32);
  } else if (IsFloat8(from.stored)) {
    Attrs attrs;
    attrs.Set("format", Float8Format(from.stored));
    x = k.Call("float8_decode", {x}, std::move(attrs));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (to.stored == 0) {
    x = k.Cast(x, to.dtype);
  } else if (to.stored == kTextType) {
    x = k.Call("format_number", {x});
  } else if (IsFloat8(to.stored)) {
    Attrs attrs;
    attrs.Set("format", Float8Format(to.stored));
    if (!saturate) attrs.Set("saturate", int64_t{0});
    x = k.Call("float8_encode", {k.Cast(x, f32)}, std::move(attrs));
  } else {
    x = ToFourBits(k, x, to);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return x;
}

}  // namespace ingot::onnx_frontend
