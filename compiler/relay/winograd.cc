#include "compiler/relay/winograd.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/status_macros.h"
#include "compiler/tir/arith/interval.h"

namespace ingot::relay {
namespace {

constexpr int64_t kKernel = 3, kTaps = 9;

const Winograd& TilesOfTwo() {
  static const auto* const made =
      new Winograd{2,
                   {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
                   {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
                   {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  return *made;
}

const Winograd& TilesOfFour() {
  static const auto* const made = [] {
    const double a = std::sqrt(0.5), b = std::sqrt(2.0);
    return new Winograd{4,
                        {{1, 0, -2.5, 0, 1, 0},
                         {0, -b, -2, a, 1, 0},
                         {0, b, -2, -a, 1, 0},
                         {0, -a, -0.5, b, 1, 0},
                         {0, a, -0.5, -b, 1, 0},
                         {0, 1, 0, -2.5, 0, 1}},
                        {{1, 0, 0},
                         {-2.0 / 3, -2 * a / 3, -1.0 / 3},
                         {-2.0 / 3, 2 * a / 3, -1.0 / 3},
                         {1.0 / 6, b / 6, 1.0 / 3},
                         {1.0 / 6, -b / 6, 1.0 / 3},
                         {0, 0, 1}},
                        {{1, 1, 1, 1, 1, 0},
                         {0, a, -a, b, -b, 0},
                         {0, 0.5, 0.5, 2, 2, 0},
                         {0, a / 2, -a / 2, 2 * b, -2 * b, 1}}};
  }();
  return *made;
}

const Winograd& WholeTilesOfTwo() {
  static const auto* const made = [] {
    auto* const whole = new Winograd(TilesOfTwo());
    for (auto& row : whole->kernel) {
      for (double& factor : row) factor *= 2;
    }
    whole->times = 4;
    return whole;
  }();
  return *made;
}

// The points 0, +-1, +-2. The rows of G are times 24 but for the last, which is
// times 12, so that 144 times a byte fits 16 bits; A^T makes up for it.
const Winograd& WholeTilesOfFour() {
  static const auto* const made = new Winograd{
      4,
      {{4, 0, -5, 0, 1, 0},
       {0, -4, -4, 1, 1, 0},
       {0, 4, -4, -1, 1, 0},
       {0, -2, -1, 2, 1, 0},
       {0, 2, -1, -2, 1, 0},
       {0, 4, 0, -5, 0, 1}},
      {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 12}},
      {{1, 1, 1, 1, 1, 0},
       {0, 1, -1, 2, -2, 0},
       {0, 1, 1, 4, 4, 0},
       {0, 1, -1, 8, -8, 2}},
      24 * 24};
  return *made;
}

// The least and greatest sum of `factors` times numbers of an interval.
tir::Interval RangeOf(const std::vector<double>& factors,
                      tir::Interval numbers) {
  tir::Interval sum = {0, 0};
  for (const double factor : factors) {
    const auto times = static_cast<int64_t>(factor);
    sum.min += times * (times < 0 ? numbers.max : numbers.min);
    sum.max += times * (times < 0 ? numbers.min : numbers.max);
  }
  return sum;
}

// Whether B^T d B fits 16 bits.
bool DataFits(const Winograd& winograd, tir::Interval data) {
  for (const auto& first : winograd.data) {
    for (const auto& second : winograd.data) {
      const tir::Interval range = RangeOf(second, RangeOf(first, data));
      if (range.min < INT16_MIN || range.max > INT16_MAX) return false;
    }
  }
  return true;
}

// Whether G g G^T fits 16 bits for numbers of at most that magnitude.
bool KernelsFit(const Winograd& winograd, int64_t most) {
  int64_t largest = 0;
  for (const auto& row : winograd.kernel) {
    largest = std::max(largest, RangeOf(row, {-1, 1}).max);
  }
  return most <= INT16_MAX / (largest * largest);
}

template <typename T>
bool Fits(const Tensor& kernels, tir::Interval data, const Winograd& winograd) {
  const int64_t out = kernels.shape()[0], terms = kernels.shape()[1] * kTaps;
  const int64_t most = INT32_MAX >> ShiftOf(winograd.times);
  const T* kernel = kernels.data<T>();
  int64_t largest = 0;
  for (int64_t o = 0; o < out; ++o, kernel += terms) {
    int64_t low = 0, high = 0;
    for (int64_t i = 0; i < terms; ++i) {
      const int64_t weight = kernel[i];
      largest = std::max(largest, std::abs(weight));
      low += weight * (weight < 0 ? data.max : data.min);
      high += weight * (weight < 0 ? data.min : data.max);
    }
    if (low < -most || high > most) return false;
  }
  return KernelsFit(winograd, largest);
}

// G g G^T at [i, j], for the kernel's nine elements.
template <typename T>
double Transformed(const Matrix& g, const T* kernel, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t y = 0; y < kKernel; ++y) {
    for (int64_t x = 0; x < kKernel; ++x) {
      sum += g[i][y] * g[j][x] * kernel[y * kKernel + x];
    }
  }
  return sum;
}

// Calls put(o, c, point, number) for each number of the transforms of kernels
// [o, c, 3, 3] of type T, points row by row.
template <typename T, typename Put>
void TransformEach(const Tensor& kernels, const Winograd& winograd,
                   const Put& put) {
  const int64_t out = kernels.shape()[0], in = kernels.shape()[1];
  const int64_t n = winograd.reach();
  const T* kernel = kernels.data<T>();
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t c = 0; c < in; ++c, kernel += kTaps) {
      for (int64_t point = 0; point < n * n; ++point) {
        put(o, c, point,
            Transformed(winograd.kernel, kernel, point / n, point % n));
      }
    }
  }
}

}  // namespace

const Winograd* FindWinograd(int64_t tile) {
  if (tile == 2) return &TilesOfTwo();
  return tile == 4 ? &TilesOfFour() : nullptr;
}

const Winograd* FindWholeWinograd(int64_t tile) {
  if (tile == 2) return &WholeTilesOfTwo();
  return tile == 4 ? &WholeTilesOfFour() : nullptr;
}

absl::StatusOr<Tensor> WinogradKernels(const Tensor& kernels,
                                       const Winograd& winograd,
                                       int64_t in_block, int64_t block) {
  const int64_t n = winograd.reach();
  const int64_t out_blocks = tir::CeilDivInt(kernels.shape()[0], block);
  const int64_t in_blocks = tir::CeilDivInt(kernels.shape()[1], in_block);
  INGOT_ASSIGN_OR_RETURN(
      Tensor made, Tensor::Empty(kernels.dtype(), {out_blocks, n, n, in_blocks,
                                                   in_block, block}));
  auto* const to = made.mutable_data<float>();
  std::fill_n(to, made.NumElements(), 0.0f);
  TransformEach<float>(
      kernels, winograd,
      [&](int64_t o, int64_t c, int64_t point, double number) {
        const int64_t row =
            (o / block * n * n + point) * in_blocks * in_block + c;
        to[row * block + o % block] = static_cast<float>(number);
      });
  return made;
}

bool FitsWholeWinograd(const Tensor& kernels, tir::Interval data,
                       const Winograd& winograd) {
  // Sums of fewer numbers than memory holds stay in 64 bits then.
  if (data.min < INT16_MIN || data.max > INT16_MAX) return false;
  return DataFits(winograd, data) &&
         (kernels.dtype() == DataType::Int(8)
              ? Fits<int8_t>(kernels, data, winograd)
              : Fits<int16_t>(kernels, data, winograd));
}

absl::StatusOr<Tensor> WholeWinogradKernels(const Tensor& kernels,
                                            const Winograd& winograd,
                                            int64_t in_block, int64_t block) {
  const int64_t n = winograd.reach(), words = in_block / 2;
  const int64_t out_blocks = tir::CeilDivInt(kernels.shape()[0], block);
  const int64_t in_blocks = tir::CeilDivInt(kernels.shape()[1], in_block);
  INGOT_ASSIGN_OR_RETURN(
      Tensor made, Tensor::Empty(DataType::Int(32),
                                 {out_blocks, n, n, in_blocks, words, block}));
  auto* const to = made.mutable_data<int32_t>();
  std::fill_n(to, made.NumElements(), 0);
  const auto put = [&](int64_t o, int64_t c, int64_t point, double number) {
    const int64_t row = (o / block * n * n + point) * in_blocks * words + c / 2;
    const auto half = static_cast<int16_t>(number);
    to[row * block + o % block] |= static_cast<int32_t>(
        uint32_t{static_cast<uint16_t>(half)} << (16 * (c % 2)));
  };
  if (kernels.dtype() == DataType::Int(8)) {
    TransformEach<int8_t>(kernels, winograd, put);
  } else {
    TransformEach<int16_t>(kernels, winograd, put);
  }
  return made;
}

int ShiftOf(int64_t times) {
  int shift = 0;
  for (; times % 2 == 0; times /= 2) ++shift;
  return shift;
}

int32_t InverseOfOdd(int64_t times) {
  const auto odd = static_cast<uint32_t>(times >> ShiftOf(times));
  // Newton's iteration; odd numbers are their own inverses modulo 8, and each
  // step doubles the bits that are right.
  uint32_t inverse = odd;
  for (int bits = 3; bits < 32; bits *= 2) inverse *= 2 - odd * inverse;
  return static_cast<int32_t>(inverse);
}

}  // namespace ingot::relay
