#include "backends/cmsis_nn/fixed_point.h"

#include <algorithm>
#include <cmath>

namespace ingot::cmsis_nn {

FixedPoint ToFixedPoint(double factor) {
  FixedPoint result;
  const double fraction = std::frexp(factor, &result.shift);
  int64_t multiplier = std::llround(std::ldexp(fraction, 31));
  if (multiplier == int64_t{1} << 31) {
    multiplier /= 2;
    ++result.shift;
  }
  if (result.shift < -31) return {};  // nothing is left of any sum
  result.multiplier = static_cast<int32_t>(multiplier);
  return result;
}

SoftmaxScale ToSoftmaxScale(double scale) {
  constexpr int kIntegerBits = 5;  // of e's power
  const double unit = std::ldexp(1.0, 31 - kIntegerBits);
  SoftmaxScale result;
  result.factor = ToFixedPoint(std::min(scale * unit, std::ldexp(1.0, 31) - 1));
  const double reach = std::ldexp(std::ldexp(1.0, kIntegerBits) - 1,
                                  31 - kIntegerBits - result.factor.shift);
  result.smallest_difference =
      static_cast<int32_t>(-std::floor(std::min(reach, std::ldexp(1.0, 30))));
  return result;
}

}  // namespace ingot::cmsis_nn
