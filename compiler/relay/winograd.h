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
// At the points 0, +-1 and +-2, whole numbers stay whole if the rows of G are
// multiplied by their denominators. Results become `times` as large: 4 times
// for m = 2, where B^T and A^T hold 0 and +-1, and 576 times for m = 4, where
// A^T makes up for rows with another denominator. Data and kernels then fit
// numbers of 16 bits, which processors multiply two at a time, and sums of 32
// bits may wrap on the way: they are right modulo 2^32, where 576 / 64 = 9 has
// an inverse, so that no more than 64 times a result need fit to give the same
// bits as by the definition.
#ifndef INGOT_COMPILER_RELAY_WINOGRAD_H_
#define INGOT_COMPILER_RELAY_WINOGRAD_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/tir/arith/interval.h"
#include "runtime/tensor.h"

namespace ingot::relay {

using Matrix = std::vector<std::vector<double>>;  // by rows

struct Winograd {
  int64_t tile;       // m
  Matrix data;        // B^T [m + 2, m + 2]
  Matrix kernel;      // G [m + 2, 3]
  Matrix result;      // A^T [m, m + 2]
  int64_t times = 1;  // by which A makes results too large

  int64_t reach() const { return tile + 2; }
};

// The transforms for tiles of m x m results; null unless m is 2 or 4.
const Winograd* FindWinograd(int64_t tile);
// The same of whole numbers.
const Winograd* FindWholeWinograd(int64_t tile);

// Transforms f32 kernels [o, i, 3, 3] and puts them in blocks of channels:
// [ceil(o / block), m + 2, m + 2, ceil(i / in_block), in_block, block], zeros
// beyond. Computed in double, rounded once. ResourceExhausted without memory.
absl::StatusOr<Tensor> WinogradKernels(const Tensor& kernels,
                                       const Winograd& winograd,
                                       int64_t in_block, int64_t block);

// Whether transforms of whole numbers are exact for kernels of i8 or i16 [o, i,
// 3, 3] and such data.
bool FitsWholeWinograd(const Tensor& kernels, tir::Interval data,
                       const Winograd& winograd);

// The transforms of such kernels in words of two input channels, the first in
// the low bits: i32[ceil(o / block), m + 2, m + 2, ceil(i / in_block),
// in_block / 2, block], zeros beyond; in_block is even. ResourceExhausted
// without memory.
absl::StatusOr<Tensor> WholeWinogradKernels(const Tensor& kernels,
                                            const Winograd& winograd,
                                            int64_t in_block, int64_t block);

// The definition's results are those of whole transforms times InverseOfOdd and
// then shifted right by ShiftOf, modulo 2^32: 1 / 9 and 6 where times is 576.
int32_t InverseOfOdd(int64_t times);
int ShiftOf(int64_t times);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_WINOGRAD_H_
