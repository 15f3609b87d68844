#include "compiler/relay/winograd.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

double At(const Matrix& m, int64_t row, int64_t column) {
  return m[row][column];
}

// For one dimension: the sum over points of A^T[r] G[.][t] B^T[.][d] is 1 where
// result r takes data d by tap t, and 0 elsewhere.
TEST(WinogradTest, TransformsMakeConvolutions) {
  for (const int64_t tile : {2, 4}) {
    const Winograd* const w = FindWinograd(tile);
    ASSERT_NE(w, nullptr);
    for (int64_t r = 0; r < tile; ++r) {
      for (int64_t t = 0; t < 3; ++t) {
        for (int64_t d = 0; d < w->reach(); ++d) {
          double sum = 0;
          for (int64_t p = 0; p < w->reach(); ++p) {
            sum +=
                At(w->result, r, p) * At(w->kernel, p, t) * At(w->data, p, d);
          }
          EXPECT_NEAR(sum, d == r + t ? 1 : 0, 1e-14)
              << tile << " " << r << " " << t << " " << d;
        }
      }
    }
  }
}

TEST(WinogradTest, ThereAreTilesOfTwoAndFour) {
  for (const int64_t tile : {-1, 0, 1, 3, 5, 6}) {
    EXPECT_EQ(FindWinograd(tile), nullptr);
  }
}

TEST(WinogradTest, KernelsLieInBlocks) {
  Tensor kernels = *Tensor::Empty(DataType::Float(32), {3, 5, 3, 3});
  for (int64_t i = 0; i < kernels.NumElements(); ++i) {
    kernels.mutable_data<float>()[i] = static_cast<float>(i);
  }
  const auto made = WinogradKernels(kernels, *FindWinograd(2), 4);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->TypeString(), "f32[1, 4, 4, 2, 4, 4]");
  // Points [0, 0] and [3, 3] are the kernel's corners; kernel o, channel c
  // begins at (o * 5 + c) * 9, and channel 4 is the first of the second block.
  const auto at = [&](int64_t i, int64_t j, int64_t c, int64_t o) {
    return made->data<float>()[((i * 4 + j) * 8 + c) * 4 + o];
  };
  EXPECT_EQ(at(0, 0, 4, 2), (2 * 5 + 4) * 9);
  EXPECT_EQ(at(3, 3, 1, 1), (1 * 5 + 1) * 9 + 8);
  EXPECT_EQ(at(0, 0, 5, 0), 0);
  EXPECT_EQ(at(1, 1, 0, 3), 0);
  // (1 + 1 + 1) / 2, twice: a fourth of the sum of all nine.
  EXPECT_EQ(at(1, 1, 0, 0), (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8) / 4.0f);
}

}  // namespace
}  // namespace ingot::relay
