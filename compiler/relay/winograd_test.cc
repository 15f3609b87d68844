#include "compiler/relay/winograd.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

double At(const Matrix& m, int64_t row, int64_t column) {
  return m[row][column];
}

// For one dimension: the sum over points of A^T[r] G[.][t] B^T[.][d] is 1, or
// the root of `times`, where result r takes data d by tap t, and 0 elsewhere.
TEST(WinogradTest, TransformsMakeConvolutions) {
  for (const Winograd* const w : {FindWinograd(2), FindWinograd(4),
                                  FindWholeWinograd(2), FindWholeWinograd(4)}) {
    ASSERT_NE(w, nullptr);
    const double scale = std::sqrt(static_cast<double>(w->times));
    for (int64_t r = 0; r < w->tile; ++r) {
      for (int64_t t = 0; t < 3; ++t) {
        for (int64_t d = 0; d < w->reach(); ++d) {
          double sum = 0;
          for (int64_t p = 0; p < w->reach(); ++p) {
            sum +=
                At(w->result, r, p) * At(w->kernel, p, t) * At(w->data, p, d);
          }
          EXPECT_NEAR(sum, d == r + t ? scale : 0, 1e-14)
              << w->tile << " " << r << " " << t << " " << d;
        }
      }
    }
  }
}

TEST(WinogradTest, ThereAreTilesOfTwoAndFour) {
  for (const int64_t tile : {-1, 0, 1, 3, 5, 6}) {
    EXPECT_EQ(FindWinograd(tile), nullptr);
    EXPECT_EQ(FindWholeWinograd(tile), nullptr);
  }
}

TEST(WinogradTest, KernelsLieInBlocks) {
  Tensor kernels = *Tensor::Empty(DataType::Float(32), {3, 5, 3, 3});
  for (int64_t i = 0; i < kernels.NumElements(); ++i) {
    kernels.mutable_data<float>()[i] = static_cast<float>(i);
  }
  const auto made = WinogradKernels(kernels, *FindWinograd(2), 4, 4);
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

// Kernels of i16 [out, in, 3, 3].
Tensor Halves(int64_t out, int64_t in) {
  return *Tensor::Empty(DataType::Int(16), {out, in, 3, 3});
}

TEST(WinogradTest, WholeKernelsLieInWords) {
  Tensor kernels = Halves(3, 5);
  for (int64_t i = 0; i < kernels.NumElements(); ++i) {
    kernels.mutable_data<int16_t>()[i] = static_cast<int16_t>(60 - i);
  }
  const auto made = WholeWinogradKernels(kernels, *FindWholeWinograd(2), 4, 2);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->TypeString(), "i32[2, 4, 4, 2, 2, 2]");
  const auto at = [&](int64_t i, int64_t j, int64_t c, int64_t o) {
    const int64_t row = ((o / 2 * 4 + i) * 4 + j) * 4 + c / 2;
    const int32_t word = made->data<int32_t>()[row * 2 + o % 2];
    return static_cast<int16_t>(static_cast<uint32_t>(word) >> (c % 2 * 16));
  };
  const auto kernel = [](int64_t c, int64_t o, int64_t tap) {
    return 60 - ((o * 5 + c) * 9 + tap);
  };
  for (int64_t o = 0; o < 3; ++o) {
    for (int64_t c = 0; c < 5; ++c) {
      EXPECT_EQ(at(0, 0, c, o), 4 * kernel(c, o, 0));
      EXPECT_EQ(at(3, 0, c, o), 4 * kernel(c, o, 6));
      // Rows of (g[0] - g[1] + g[2]), and their sum over columns.
      int64_t sum = 0;
      for (int64_t tap = 0; tap < 9; ++tap) {
        sum += (tap / 3 == 1 ? -1 : 1) * kernel(c, o, tap);
      }
      EXPECT_EQ(at(2, 1, c, o), sum);
      EXPECT_EQ(at(3, 1, c, o),
                2 * (kernel(c, o, 6) + kernel(c, o, 7) + kernel(c, o, 8)));
    }
  }
  for (int64_t c = 0; c < 8; ++c) {
    EXPECT_EQ(at(1, 1, c, 3), 0);
    if (c >= 5) EXPECT_EQ(at(1, 1, c, 0), 0);
  }
}

TEST(WinogradTest, BytesAreTransformedAsHalvesAre) {
  Tensor halves = Halves(2, 3);
  Tensor bytes = *Tensor::Empty(DataType::Int(8), {2, 3, 3, 3});
  for (int64_t i = 0; i < bytes.NumElements(); ++i) {
    bytes.mutable_data<int8_t>()[i] = static_cast<int8_t>(i * 37);
    halves.mutable_data<int16_t>()[i] = bytes.data<int8_t>()[i];
  }
  for (const int64_t tile : {2, 4}) {
    const Winograd& whole = *FindWholeWinograd(tile);
    const auto made = WholeWinogradKernels(bytes, whole, 4, 2);
    const auto expected = WholeWinogradKernels(halves, whole, 4, 2);
    ASSERT_TRUE(made.ok() && expected.ok());
    ASSERT_EQ(made->NumElements(), expected->NumElements());
    EXPECT_TRUE(std::equal(made->data<int32_t>(),
                           made->data<int32_t>() + made->NumElements(),
                           expected->data<int32_t>()));
  }
}

TEST(WinogradTest, WholeNumbersMustFit) {
  const auto fits = [](int64_t tile, int64_t in, int16_t weight,
                       tir::Interval data) {
    Tensor kernels = Halves(2, in);
    std::fill_n(kernels.mutable_data<int16_t>(), kernels.NumElements(), 0);
    std::fill_n(kernels.mutable_data<int16_t>() + in * 9, in * 9, weight);
    return FitsWholeWinograd(kernels, data, *FindWholeWinograd(tile));
  };
  // 4 or 64 times a result is at most 2^31 - 1.
  const tir::Interval byte = {0, 255}, both = {-255, 255};
  EXPECT_TRUE(fits(2, 1827, -128, both));
  EXPECT_FALSE(fits(2, 1828, -128, both));
  EXPECT_TRUE(fits(2, 1841, 127, both));
  EXPECT_FALSE(fits(2, 1842, 127, both));
  EXPECT_TRUE(fits(4, 114, -128, byte));
  EXPECT_FALSE(fits(4, 115, -128, byte));
  EXPECT_TRUE(fits(4, 115, 127, byte));
  EXPECT_FALSE(fits(4, 116, 127, byte));
  // Kernels times 9 or 144 fit 16 bits.
  EXPECT_TRUE(fits(2, 1, 3640, both));
  EXPECT_FALSE(fits(2, 1, 3641, both));
  EXPECT_FALSE(fits(2, 1, INT16_MIN, both));
  EXPECT_TRUE(fits(4, 1, -227, both));
  EXPECT_FALSE(fits(4, 1, 228, both));
  // Sums of 4 data do, and data times 100, or 68 of them without a sign.
  EXPECT_TRUE(fits(2, 1, 1, {-8191, 8191}));
  EXPECT_FALSE(fits(2, 1, 1, {-8192, 8192}));
  EXPECT_TRUE(fits(4, 1, 1, {-327, 327}));
  EXPECT_FALSE(fits(4, 1, 1, {-328, 328}));
  EXPECT_TRUE(fits(4, 1, 1, {0, 481}));
  EXPECT_FALSE(fits(4, 1, 1, {0, 482}));
  EXPECT_TRUE(fits(2, 100000, 0, both));
}

// A result modulo 2^32 is found again from `times` as much of it, which wraps.
TEST(WinogradTest, ResultsAreRestored) {
  for (const int64_t tile : {2, 4}) {
    const int64_t times = FindWholeWinograd(tile)->times;
    const int shift = ShiftOf(times);
    EXPECT_EQ(shift, tile == 2 ? 2 : 6);
    const int64_t most = INT32_MAX >> shift;
    for (const int64_t result : {int64_t{0}, int64_t{1}, int64_t{-1},
                                 int64_t{255 * 127}, most, -most}) {
      const auto wrapped = static_cast<uint32_t>(result * times);
      const auto scaled = static_cast<int32_t>(
          wrapped * static_cast<uint32_t>(InverseOfOdd(times)));
      EXPECT_EQ(scaled >> shift, result) << tile;
    }
  }
}

}  // namespace
}  // namespace ingot::relay
