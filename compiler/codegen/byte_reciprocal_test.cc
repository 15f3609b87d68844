#include "compiler/codegen/byte_reciprocal.h"

#include <cmath>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace ingot::codegen {
namespace {

// All floats between two of a range of bytes' numbers, in steps that leave out
// none near the middle.
TEST(ByteReciprocalTest, RoundsLikeTheQuotient) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> exponent(-12, 4);
  int exact = 0;
  for (int k = 0; k < 100; ++k) {
    const float scale = std::exp2(exponent(random));
    const auto r = FindByteReciprocal(scale, -128, 127);
    if (!r) continue;
    ++exact;
    for (int n = -128; n < 127; ++n) {
      const float halfway = (static_cast<float>(n) + 0.5f) * scale;
      float x = halfway;
      for (int i = 0; i < 20; ++i) x = std::nextafter(x, -1e30f);
      for (int i = 0; i < 40; ++i, x = std::nextafter(x, 1e30f)) {
        EXPECT_EQ(std::rint(std::fma(x, r->high, x * r->low)),
                  std::rint(x / scale))
            << x << " by " << scale;
      }
      for (x = (n + 0.01f) * scale; x < (n + 1) * scale; x += scale / 64) {
        EXPECT_EQ(std::rint(std::fma(x, r->high, x * r->low)),
                  std::rint(x / scale));
      }
    }
  }
  EXPECT_GE(exact, 98);  // a fallback that most scales need would be useless
}

TEST(ByteReciprocalTest, RefusesWhatIsNoScale) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float scale : {0.0f, -1.0f, infinity, std::nanf(""), 1e-38f}) {
    EXPECT_FALSE(FindByteReciprocal(scale, 0, 255)) << scale;
  }
  const auto half = FindByteReciprocal(0.5f, 0, 255);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->high, 2);
  EXPECT_EQ(half->low, 0);
}

}  // namespace
}  // namespace ingot::codegen
