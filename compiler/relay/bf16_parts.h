// Numbers of f32 as sums of bf16, and matrices of them as tiles of a processor
// read them (Intel's manual, TDPBF16PS).
//
// One part keeps 8 binary digits of a number, two keep 16, three keep all 24,
// but where the last part is smaller than the smallest bf16, and for infinities
// and NaN: those are in the first part, and the others become NaN.
#ifndef INGOT_COMPILER_RELAY_BF16_PARTS_H_
#define INGOT_COMPILER_RELAY_BF16_PARTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/tensor.h"

namespace ingot::relay {

// The right operand of a product, [rows, columns], in panels of 16 columns: of
// each panel, rows are taken 32 at a time; of these, for one part after the
// other, 16 pairs of rows; zeros beyond rows and columns.
struct Bf16Panels {
  static constexpr int64_t kRow = 32;      // elements of 64 bytes
  static constexpr int64_t kPair = 2;      // elements of 4 bytes
  static constexpr int64_t kColumns = 16;  // of a tile
  static constexpr int64_t kMostParts = 3;

  int64_t rows, columns, parts;

  // [columns / 16, rows / 32, parts, 16, 16, 2], rounded up.
  std::vector<int64_t> shape() const {
    return {(columns + kColumns - 1) / kColumns,
            (rows + kRow - 1) / kRow,
            parts,
            kRow / kPair,
            kColumns,
            kPair};
  }
};

// Packs w of f32, whose element [row, column] is number row * row_stride +
// column * column_stride. ResourceExhausted where memory runs out.
absl::StatusOr<Tensor> PackBf16Panels(const Tensor& w, const Bf16Panels& panels,
                                      int64_t row_stride,
                                      int64_t column_stride);

// Packs convolution kernels of f32, OIHW, whose rows are, for 32 input channels
// after the other, the taps in order, of 32 each, and whose columns are output
// channels. ResourceExhausted where memory runs out.
absl::StatusOr<Tensor> PackBf16Kernels(const Tensor& w, int64_t parts);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_BF16_PARTS_H_
