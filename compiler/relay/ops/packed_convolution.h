// Convolutions of data in blocks of channels that tiles multiply: what those of
// bf16 parts and those of bytes share.
#ifndef INGOT_COMPILER_RELAY_OPS_PACKED_CONVOLUTION_H_
#define INGOT_COMPILER_RELAY_OPS_PACKED_CONVOLUTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/window.h"
#include "compiler/te/te.h"

namespace ingot::relay::ops {

// A convolution of x NCHW<block>c, whose channels are summed a row after the
// other.
struct PackedConvolution {
  static constexpr int64_t kColumns = 16;  // channels of a block of the result

  Window window;
  int64_t block = 0;     // a divisor of `row`
  int64_t row = 0;       // channels that fill a row of a tile
  int64_t rows = 0;      // of one pixel
  int64_t channels = 0;  // that are read: all but what fills up the last block

  // Each element of the result depends on one pixel: only those that are read
  // are gathered.
  bool is_pointwise() const {
    return window.kernel == std::vector<int64_t>{1, 1};
  }
  // The steps of a sum: for one row after the other, the taps in order.
  int64_t steps() const { return rows * window.kernel[0] * window.kernel[1]; }

  // The pixels that are gathered, [n, rows, y, x], with those around x.
  Shape PixelShape(const ComputeContext& c) const;
  // Element `lane` of the row at i = [n, row, y, x] of them; `outside` where x
  // has none.
  Expr ElementAt(const ComputeContext& c, const Indices& i, const Expr& lane,
                 const Expr& outside) const;
  // The row [n, row, y, x] that the result's element at i = [n, .., y, x, ..]
  // meets at r = [row, tap's y, tap's x], and the number of that step.
  Indices RowOf(const Indices& i, const Indices& r) const;
  Expr StepOf(const Indices& r) const;
};

// The attributes of such a convolution, after what its operator has of its own.
std::vector<AttrSpec> PackedConvolutionAttrs();

// Reads a convolution of x with rows of so many channels. InvalidArgument where
// x is not in such blocks, or an attribute is out of range.
absl::StatusOr<PackedConvolution> ReadPackedConvolution(const TensorType& x,
                                                        const Attrs& attrs,
                                                        int64_t row);

// The type of its result, of so many blocks.
absl::StatusOr<TensorType> ResultOfPackedConvolution(
    const PackedConvolution& conv, const TensorType& x, const Dim& blocks,
    DataType dtype);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_PACKED_CONVOLUTION_H_
