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

absl::StatusOr<Tensor> WinogradKernels(const Tensor& kernels,
                                       const Winograd& winograd,
                                       int64_t block) {
  const int64_t n = winograd.reach();
  const int64_t out_blocks = tir::CeilDivInt(kernels.shape()[0], block);
  const int64_t in_blocks = tir::CeilDivInt(kernels.shape()[1], block);
  INGOT_ASSIGN_OR_RETURN(
      Tensor made, Tensor::Empty(kernels.dtype(),
                                 {out_blocks, n, n, in_blocks, block, block}));
  auto* const to = made.mutable_data<float>();
  std::fill_n(to, made.NumElements(), 0.0f);
  TransformEach<float>(
      kernels, winograd,
      [&](int64_t o, int64_t c, int64_t point, double number) {
        const int64_t row = (o / block * n * n + point) * in_blocks * block + c;
        to[row * block + o % block] = static_cast<float>(number);
      });
  return made;
}

bool FitsWholeWinograd(const Tensor& kernels, int64_t most) {
  constexpr int64_t kTimes = 4;  // the results, and an element in B^T d B
  if (most > INT16_MAX / kTimes) return false;
  const int64_t out = kernels.shape()[0], terms = kernels.shape()[1] * kTaps;
  const int16_t* kernel = kernels.data<int16_t>();
  for (int64_t o = 0; o < out; ++o, kernel += terms) {
    int64_t sum = 0;
    for (int64_t i = 0; i < terms; ++i) {
      const int64_t weight = std::abs(int64_t{kernel[i]});
      if (weight > INT16_MAX / kTaps) return false;
      sum += weight;
    }
    if (sum > 0 && most > INT32_MAX / kTimes / sum) return false;
  }
  return true;
}

absl::StatusOr<Tensor> WholeWinogradKernels(const Tensor& kernels,
                                            int64_t in_block, int64_t block) {
  const Winograd& winograd = TilesOfTwo();
  constexpr double kTimes = 4;
  const int64_t n = winograd.reach(), words = in_block / 2;
  const int64_t out_blocks = tir::CeilDivInt(kernels.shape()[0], block);
  const int64_t in_blocks = tir::CeilDivInt(kernels.shape()[1], in_block);
  INGOT_ASSIGN_OR_RETURN(
      Tensor made, Tensor::Empty(DataType::Int(32),
                                 {out_blocks, n, n, in_blocks, words, block}));
  auto* const to = made.mutable_data<int32_t>();
  std::fill_n(to, made.NumElements(), 0);
  TransformEach<int16_t>(
      kernels, winograd,
      [&](int64_t o, int64_t c, int64_t point, double number) {
        const int64_t row =
            (o / block * n * n + point) * in_blocks * words + c / 2;
        const auto half = static_cast<int16_t>(kTimes * number);
        to[row * block + o % block] |= static_cast<int32_t>(
            uint32_t{static_cast<uint16_t>(half)} << (16 * (c % 2)));
      });
  return made;
}

}  // namespace ingot::relay
