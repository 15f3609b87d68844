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

// Integers, and floats that are not limited, keep their low bits.
Value ToSmallInteger(Compose& k, Value x, const ElementType& to,
                     bool saturate) {
  if (!k.ok()) return Value{};
  const bool is_signed = IsSigned(to.storage);
  const int bits = BitsOf(to.storage);
  const double beyond = 1 << (is_signed ? bits - 1 : bits);
  if (x.type().dtype.is_float()) {
    if (saturate) {
      Attrs limits;
      limits.Set("min", is_signed ? -beyond : 0.0);
      limits.Set("max", beyond - 1);
      return k.Cast(k.Call("clip", {x}, std::move(limits)), to.dtype);
    }
    x = k.Cast(x, DataType::Int(64));
  }
  x = k.Cast(x, to.dtype);
  x = k.Call("bitwise_and", {x, k.Like(x, (1 << bits) - 1)});
  if (!is_signed) return x;
  // The highest of the bits is the sign.
  return k.Sub(k.Call("bitwise_xor", {x, k.Like(x, beyond)}), beyond);
}

}  // namespace

absl::StatusOr<Value> ConvertElements(CallBuilder& calls, Value x,
                                      const ElementType& from,
                                      const ElementType& to,
                                      const Conversion& how) {
  if (from.storage != StorageType::kNone && from.storage == to.storage) {
    return x;
  }
  Compose k(calls);
  const DataType f32 = DataType::Float(32);
  if (from.storage == StorageType::kText) {
    x = ParseText(k, x, to.storage == StorageType::kNone ? to.dtype : f32);
  } else if (IsSmallFloat(from.storage)) {
    Attrs attrs;
    attrs.Set("format", FloatFormat(from.storage));
    x = k.Call("float8_decode", {x}, std::move(attrs));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (to.storage == StorageType::kNone) {
    x = k.Cast(x, to.dtype);
  } else if (to.storage == StorageType::kText) {
    // A bool as the number that it is cast to.
    const bool is_bool = x.type().dtype.is_bool();
    x = k.Call("format_number", {is_bool ? k.Cast(x, DataType::UInt(8)) : x});
  } else if (IsSmallFloat(to.storage)) {
    Attrs attrs;
    attrs.Set("format", FloatFormat(to.storage));
    if (!how.saturate) attrs.Set("saturate", int64_t{0});
    if (to.storage == StorageType::kFloat8E8M0) {
      attrs.Set("rounding", how.rounding);
    }
    x = k.Call("float8_encode", {k.Cast(x, f32)}, std::move(attrs));
  } else {
    x = ToSmallInteger(k, x, to, how.saturate);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return x;
}

}  // namespace ingot::relay
