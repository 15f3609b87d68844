#include "compiler/relay/winograd.h"

#include <algorithm>
#include <cmath>

#include "base/status_macros.h"

namespace ingot::relay {
namespace {

constexpr int64_t kKernel = 3;

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
double Transformed(const Matrix& g, const float* kernel, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t y = 0; y < kKernel; ++y) {
    for (int64_t x = 0; x < kKernel; ++x) {
      sum += g[i][y] * g[j][x] * kernel[y * kKernel + x];
    }
  }
  return sum;
}

}  // namespace

const Winograd* FindWinograd(int64_t tile) {
  if (tile == 2) return &TilesOfTwo();
  return tile == 4 ? &TilesOfFour() : nullptr;
}

absl::StatusOr<Tensor> WinogradKernels(const Tensor& kernels,
                                       const Winograd& winograd,
                                       int64_t block) {
  const int64_t out = kernels.shape()[0], in = kernels.shape()[1];
  const int64_t n = winograd.reach();
  const int64_t out_blocks = (out + block - 1) / block;
  const int64_t in_blocks = (in + block - 1) / block;
  INGOT_ASSIGN_OR_RETURN(
      Tensor made, Tensor::Empty(kernels.dtype(),
                                 {out_blocks, n, n, in_blocks, block, block}));
  auto* const to = made.mutable_data<float>();
  std::fill(to, to + made.NumElements(), 0.0f);
  const float* const from = kernels.data<float>();
  const int64_t point = in_blocks * block * block;  // elements of one [i, j]
  for (int64_t o = 0; o < out; ++o) {
    float* const block_of_o = to + o / block * n * n * point + o % block;
    for (int64_t c = 0; c < in; ++c) {
      const float* const kernel = from + (o * in + c) * kKernel * kKernel;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          block_of_o[(i * n + j) * point + c * block] =
              static_cast<float>(Transformed(winograd.kernel, kernel, i, j));
        }
      }
    }
  }
  return made;
}

}  // namespace ingot::relay
