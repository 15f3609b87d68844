#ifndef INGOT_RUNTIME_FLOAT16_H_
#define INGOT_RUNTIME_FLOAT16_H_

#include <cstdint>

// The two 16-bit float types as bit patterns. To 16 bits rounds to nearest,
// ties to even; too large becomes infinity, NaN stays a (quiet) NaN with its
// sign. From 16 bits is exact.

namespace ingot {

uint16_t FloatToHalf(float value);
float HalfToFloat(uint16_t bits);
// Rounds once, which going through float would not.
uint16_t DoubleToHalf(double value);

uint16_t FloatToBFloat16(float value);
float BFloat16ToFloat(uint16_t bits);
uint16_t DoubleToBFloat16(double value);

}  // namespace ingot

#endif  // INGOT_RUNTIME_FLOAT16_H_
