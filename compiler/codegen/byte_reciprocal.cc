#include "compiler/codegen/byte_reciprocal.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace ingot::codegen {
namespace {

// x with so many steps between it and the next floats; x is not near 0.
float Step(float x, int steps) {
  int32_t bits;
  std::memcpy(&bits, &x, sizeof(x));
  bits += steps;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

float Quotient(float x, const ByteReciprocal& r) {
  return std::fma(x, r.high, x * r.low);
}

}  // namespace

std::optional<ByteReciprocal> FindByteReciprocal(float scale, int low,
                                                 int high) {
  // Products that are nowhere near the ends of what floats hold.
  constexpr float kLeast = 1e-20f, kMost = 1e20f;
  if (!(scale >= kLeast && scale <= kMost)) return std::nullopt;
  ByteReciprocal r;
  r.high = 1 / scale;
  r.low = static_cast<float>(-std::fma(double{r.high}, double{scale}, -1.0) /
                             double{scale});
  // Both are monotone, so that they round alike wherever they do so around the
  // numbers halfway between two bytes, within what either may be off by.
  constexpr int kSteps = 4;
  for (int n = low; n <= high; ++n) {
    const float halfway = (static_cast<float>(n) - 0.5f) * scale;
    for (int k = -kSteps; k <= kSteps; ++k) {
      const float x = Step(halfway, k);
      if (std::rint(x / scale) != std::rint(Quotient(x, r))) {
        return std::nullopt;
      }
    }
  }
  for (const int end : {low, high}) {
    const float x = static_cast<float>(end) * scale;
    if (std::rint(x / scale) != static_cast<float>(end) ||
        std::rint(Quotient(x, r)) != static_cast<float>(end)) {
      return std::nullopt;
    }
  }
  return r;
}

}  // namespace ingot::codegen
