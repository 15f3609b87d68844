#include "runtime/float16.h"

#include <cstdint>
#include <cstring>

namespace ingot {
namespace {

template <typename To, typename From>
To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// Rounds an IEEE double's bits to a 16-bit format with `exponent_bits` and
// 15 - exponent_bits bits of mantissa. Every float is a double, so this serves
// both.
uint16_t Round(double value, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint64_t bits = BitCast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 63) << 15);
  const uint16_t infinity =
      static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) {
    if (mantissa == 0) return sign | infinity;
    // The payload's upper bits, quiet.
    return static_cast<uint16_t>(sign | infinity |
                                 (mantissa >> (52 - mantissa_bits)) |
                                 (1 << (mantissa_bits - 1)));
  }
  // Doubles without the implicit bit are far below half of the least value.
  if (exponent == 0) return sign;
  mantissa |= uint64_t{1} << 52;
  exponent += bias - 1023;
  int shift = 52 - mantissa_bits;
  if (exponent <= 0) {  // subnormal here, or zero
    shift += 1 - exponent;
    exponent = 1;
    if (shift > 54) return sign;
  }
  uint64_t rounded = mantissa >> shift;
  const uint64_t rest = mantissa & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  // The implicit bit counts as one exponent step, and a carry out of the
  // mantissa as one more; without the implicit bit it is a subnormal.
  const uint64_t result =
      (static_cast<uint64_t>(exponent - 1) << mantissa_bits) + rounded;
  if (result >= infinity) return sign | infinity;
  return static_cast<uint16_t>(sign | result);
}

}  // namespace

uint16_t DoubleToHalf(double value) { return Round(value, 5); }
uint16_t DoubleToBFloat16(double value) { return Round(value, 8); }

uint16_t FloatToHalf(float value) {
  const uint32_t bits = BitCast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffff;
  // Normal and not overflowing: round in place, then move the exponent's bias.
  if (magnitude >= 0x38800000 && magnitude < 0x477ff000) {
    const uint32_t odd = (magnitude >> 13) & 1;
    const uint32_t rounded =
        (magnitude + 0xfff + odd - ((127 - 15) << 23)) >> 13;
    return static_cast<uint16_t>((bits >> 31 << 15) | rounded);
  }
  return Round(value, 5);
}

float HalfToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^-24, exactly
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return BitCast<float>(BitCast<uint32_t>(value) | sign);
  }
  if (exponent == 0x1f) {
    const uint32_t quiet = mantissa != 0 ? 0x400000 : 0;
    return BitCast<float>(sign | 0x7f800000 | quiet | (mantissa << 13));
  }
  return BitCast<float>(sign | ((exponent + 127 - 15) << 23) |
                        (mantissa << 13));
}

uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = BitCast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) {
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  }
  const uint32_t odd = (bits >> 16) & 1;
  return static_cast<uint16_t>((bits + 0x7fff + odd) >> 16);
}

float BFloat16ToFloat(uint16_t bits) {
  return BitCast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace ingot
