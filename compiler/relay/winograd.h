// Winograd's algorithm for 3x3 convolutions that take every position: tiles of
// m x m results from (m + 2)^2 multiplications per channel, where the
// definition takes 9 m^2.
//
//   tile of results = A^T [ (G g G^T) * (B^T d B) ] A
//
// for a kernel g and (m + 2)^2 data d; * is by elements, and summed over the
// input channels that makes (m + 2)^2 products of matrices. B^T, G and A^T come
// from polynomials at m + 1 points and at infinity (A. Lavin and S. Gray, "Fast
// algorithms for convolutional neural networks", 2015). The points 0,
// +-sqrt(1/2), +-sqrt(2) of m = 4 keep the factors' sizes alike: sums of 128
// channels are off by twice as much as those of the definition, where the
// usual points 0, +-1, +-2 are off by five times as much. A tile's results all
// depend on all of its data, so that an infinity or NaN also reaches results
// beside it whose own windows do not hold it.
//
// With the points 0, +-1 of m = 2, whole numbers stay whole: B^T and A^T hold
// 0 and +-1, and 2 G is of whole numbers, which makes four times the results.
// Sums may wrap on the way, as long as that fits, so that numbers of 16 bits,
// multiplied two at a time, give the same bits as by the definition.
#ifndef INGOT_COMPILER_RELAY_WINOGRAD_H_
#define INGOT_COMPILER_RELAY_WINOGRAD_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/tensor.h"

namespace ingot::relay {

using Matrix = std::vector<std::vector<double>>;  // by rows

struct Winograd {
  int64_t tile;   // m
  Matrix data;    // B^T [m + 2, m + 2]
  Matrix kernel;  // G [m + 2, 3]
  Matrix result;  // A^T [m, m + 2]

  int64_t reach() const { return tile + 2; }
};

// The transforms for tiles of m x m results; null unless m is 2 or 4.
const Winograd* FindWinograd(int64_t tile);

// Transforms f32 kernels [o, i, 3, 3] and puts them in blocks of channels:
// [ceil(o / block), m + 2, m + 2, ceil(i / block), block of i, block of o],
// zeros beyond. Computed in double, rounded once. ResourceExhausted without
// memory.
absl::StatusOr<Tensor> WinogradKernels(const Tensor& kernels,
                                       const Winograd& winograd, int64_t block);

// Whether whole numbers are exact for kernels of i16 [o, i, 3, 3] and data of
// at most this magnitude: what is transformed fits 16 bits, and four times any
// result 32.
bool FitsWholeWinograd(const Tensor& kernels, int64_t most);

// Four times the transforms of such kernels for tiles of 2 x 2 results, in
// words of two input channels, the first in the low bits: i32[ceil(o / block),
// 4, 4, ceil(i / in_block), in_block / 2, block], zeros beyond; in_block is
// even. ResourceExhausted without memory.
absl::StatusOr<Tensor> WholeWinogradKernels(const Tensor& kernels,
                                            int64_t in_block, int64_t block);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_WINOGRAD_H_
