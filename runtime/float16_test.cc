#include "runtime/float16.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"

namespace ingot {
namespace {

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The value of a half from its definition.
double HalfValue(uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  if (exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Float16, EveryHalfIsExactAndComesBack) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = HalfToFloat(bits);
    const double expected = HalfValue(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(FloatToHalf(value), bits | 0x200);
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), expected) << i;
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << i;
    ASSERT_EQ(FloatToHalf(value), bits) << i;
    ASSERT_EQ(DoubleToHalf(value), bits) << i;
  }
}

TEST(Float16, HalfwayGoesToEvenAndNeighboursToNearest) {
  for (uint16_t i = 0; i < 0x7bff; ++i) {
    const double low = HalfValue(i);
    const double high = HalfValue(static_cast<uint16_t>(i + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    const uint16_t even = (i & 1) == 0 ? i : static_cast<uint16_t>(i + 1);
    ASSERT_EQ(FloatToHalf(middle), even) << i;
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 0.0f)), i);
    ASSERT_EQ(FloatToHalf(std::nextafter(middle, 1e9f)), i + 1);
    ASSERT_EQ(FloatToHalf(-middle), even | 0x8000);
  }
}

TEST(Float16, HalfOverflowsAndUnderflows) {
  EXPECT_EQ(FloatToHalf(65504.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65519.996f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToHalf(1e30f), 0x7c00);
  EXPECT_EQ(FloatToHalf(-1e30f), 0xfc00);
  EXPECT_EQ(FloatToHalf(std::ldexp(1.0f, -25)), 0x0000);  // a tie
  EXPECT_EQ(FloatToHalf(std::ldexp(1.5f, -25)), 0x0001);
  EXPECT_EQ(FloatToHalf(std::ldexp(1.0f, -140)), 0x0000);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(DoubleToHalf(1e-300), 0x0000);
}

TEST(Float16, DoubleRoundsOnce) {
  // Just above a tie of halves, but a float would be the tie itself.
  const double value = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(DoubleToHalf(value), 0x3c01);
  EXPECT_EQ(FloatToHalf(static_cast<float>(value)), 0x3c00);
  const double b = 1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40);
  EXPECT_EQ(DoubleToBFloat16(b), 0x3f81);
  EXPECT_EQ(FloatToBFloat16(static_cast<float>(b)), 0x3f80);
}

TEST(Float16, EveryBFloat16ComesBack) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = BFloat16ToFloat(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(BFloat16ToFloat(FloatToBFloat16(value))));
      continue;
    }
    ASSERT_EQ(FloatToBFloat16(value), bits);
    ASSERT_EQ(DoubleToBFloat16(value), bits);
  }
}

TEST(Float16, BFloat16Rounds) {
  EXPECT_EQ(FloatToBFloat16(FromBits(0x3f808000)), 0x3f80);  // ties
  EXPECT_EQ(FloatToBFloat16(FromBits(0x3f818000)), 0x3f82);
  EXPECT_EQ(FloatToBFloat16(FromBits(0x3f808001)), 0x3f81);
  EXPECT_EQ(FloatToBFloat16(std::numeric_limits<float>::max()), 0x7f80);
  // A NaN whose upper half alone would be infinity.
  EXPECT_TRUE(
      std::isnan(BFloat16ToFloat(FloatToBFloat16(FromBits(0x7f800001)))));
  EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(FromBits(0x7f800001)))));
}

}  // namespace
}  // namespace ingot
