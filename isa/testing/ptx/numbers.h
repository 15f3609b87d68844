// Numbers of 16 bits, and roundings that C++ has not.
#ifndef INGOT_ISA_TESTING_PTX_NUMBERS_H_
#define INGOT_ISA_TESTING_PTX_NUMBERS_H_

#include <cstdint>

namespace ingot::isa::ptx {

struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
template <typename T>
struct Pair {
  T low, high;
};

// kNearestAway is "rna": halves go away from 0.
enum class Rounding : uint8_t { kNearest, kZero, kDown, kUp, kNearestAway };

// A format of floating-point numbers: its bits of precision, with the hidden
// one, and the exponents of normal numbers.
struct Format {
  int precision, lowest, highest;
};
inline constexpr Format kHalfFormat = {11, -14, 15};
inline constexpr Format kBfloatFormat = {8, -126, 127};
inline constexpr Format kTf32Format = {11, -126, 127};
inline constexpr Format kFloatFormat = {24, -126, 127};

// The number of the format that `value` is rounded to.
double RoundTo(double value, const Format& format, Rounding rounding);

// Rounded to an integer.
double RoundToInteger(double value, Rounding rounding);

float Widen(Half half);
float Widen(Bfloat number);
inline float Widen(float number) { return number; }
inline double Widen(double number) { return number; }

// To the nearest, ties to even. A NaN becomes the canonical one.
template <typename T>
T Narrow(float number);
template <typename T>
T Narrow(double number);
template <>
Half Narrow<Half>(float number);
template <>
Half Narrow<Half>(double number);
template <>
Bfloat Narrow<Bfloat>(float number);
template <>
Bfloat Narrow<Bfloat>(double number);
template <>
inline float Narrow<float>(float number) {
  return number;
}
template <>
inline float Narrow<float>(double number) {
  return static_cast<float>(number);
}
template <>
inline double Narrow<double>(double number) {
  return number;
}

}  // namespace ingot::isa::ptx

#endif  // INGOT_ISA_TESTING_PTX_NUMBERS_H_
