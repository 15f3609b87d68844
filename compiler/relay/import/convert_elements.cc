#include "compiler/relay/import/convert_elements.h"

#include <utility>

#include "base/status_macros.h"
#include "compiler/relay/import/compose.h"

namespace ingot::relay {
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
  const bool is_signed = to.storage == StorageType::kInt4;
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

absl::StatusOr<Value> ConvertElements(CallBuilder& calls, Value x,
                                      const ElementType& from,
                                      const ElementType& to, bool saturate) {
  if (from.storage != StorageType::kNone && from.storage == to.storage) {
    return x;
  }
  Compose k(calls);
  const DataType f32 = DataType::Float(32);
  if (from.storage == StorageType::kText) {
    x = ParseText(k, x, to.storage == StorageType::kNone ? to.dtype : f32);
  } else if (IsFloat8(from.storage)) {
    Attrs attrs;
    attrs.Set("format", Float8Format(from.storage));
    x = k.Call("float8_decode", {x}, std::move(attrs));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (to.storage == StorageType::kNone) {
    x = k.Cast(x, to.dtype);
  } else if (to.storage == StorageType::kText) {
    x = k.Call("format_number", {x});
  } else if (IsFloat8(to.storage)) {
    Attrs attrs;
    attrs.Set("format", Float8Format(to.storage));
    if (!saturate) attrs.Set("saturate", int64_t{0});
    x = k.Call("float8_encode", {k.Cast(x, f32)}, std::move(attrs));
  } else {
    x = ToFourBits(k, x, to);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return x;
}

}  // namespace ingot::relay
