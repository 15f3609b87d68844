#include "isa/testing/ptx/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ingot::isa::ptx {
namespace {

uint32_t BitsOf(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

float FloatOf(uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

// The bits of the half that is nearest to a positive number.
uint32_t NearestHalf(float number) {
  const uint32_t bits = BitsOf(number);
  if (bits >= 0x47800000) return 0x7c00;  // 2^16 and more
  // The unit in the last place of 0.5f is that of the least halves.
  if (bits < 0x38800000) return BitsOf(number + 0.5f) - 0x3f000000;
  return (bits - (112u << 23) + 0xfff + ((bits >> 13) & 1)) >> 13;
}

}  // namespace

double RoundToInteger(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest:
      return std::nearbyint(value);
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    case Rounding::kUp:
      return std::ceil(value);
    case Rounding::kNearestAway:
      return std::round(value);
  }
  return value;
}

double RoundTo(double value, const Format& format, Rounding rounding) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), format.lowest);
  const int unit = exponent - format.precision + 1;
  const double rounded =
      std::ldexp(RoundToInteger(std::ldexp(value, -unit), rounding), unit);
  const double largest =
      std::ldexp(2 - std::ldexp(1.0, 1 - format.precision), format.highest);
  if (std::fabs(rounded) <= largest) return std::copysign(rounded, value);
  const bool stays = rounding == Rounding::kZero ||
                     (rounding == Rounding::kDown && value > 0) ||
                     (rounding == Rounding::kUp && value < 0);
  return std::copysign(
      stays ? largest : std::numeric_limits<double>::infinity(), value);
}

float Widen(Half half) {
  const uint32_t sign = (half.bits & 0x8000u) << 16;
  const uint32_t rest = (half.bits & 0x7fffu) << 13;
  if (rest >= 0x7c00u << 13) return FloatOf(sign | 0x7f800000 | rest);
  if (rest < 0x0400u << 13) {
    return std::copysign((half.bits & 0x7fff) * 0x1p-24f, FloatOf(sign));
  }
  return FloatOf(sign | (rest + (112u << 23)));
}

float Widen(Bfloat number) { return FloatOf(uint32_t{number.bits} << 16); }

template <>
Half Narrow<Half>(float number) {
  if (number != number) return {0x7fff};
  const uint32_t sign = BitsOf(number) >> 16 & 0x8000;
  return {static_cast<uint16_t>(sign | NearestHalf(std::fabs(number)))};
}

template <>
Half Narrow<Half>(double number) {
  return Narrow<Half>(
      static_cast<float>(RoundTo(number, kHalfFormat, Rounding::kNearest)));
}

template <>
Bfloat Narrow<Bfloat>(float number) {
  if (number != number) return {0x7fff};
  const uint32_t bits = BitsOf(number);
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

template <>
Bfloat Narrow<Bfloat>(double number) {
  return Narrow<Bfloat>(
      static_cast<float>(RoundTo(number, kBfloatFormat, Rounding::kNearest)));
}

}  // namespace ingot::isa::ptx
