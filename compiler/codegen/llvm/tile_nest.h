// A tensorized loop nest as a multiplication of tiles.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_TILE_NEST_H_
#define INGOT_COMPILER_CODEGEN_LLVM_TILE_NEST_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// sum[row, column] += for each of the steps, for each of the terms,
//   for i in depth: for j in group: a[row, i, j] * b[i, column, j]
//
// where `group` elements fill 4 bytes, side by side for each step i of a row of
// `a` and each column of a row i of `b`. They are bf16, summed as f32, or
// bytes, summed as i32: those of one operand signed, those of the other not.
// Bytes of `b` lie in words of i32, those of `a` in a buffer of u8 whether they
// are signed or not. Strides are in elements of their buffers.
struct TileNest {
  static constexpr int64_t kRows = 16;       // of a tile
  static constexpr int64_t kColumns = 16;    // of a tile of sums or of `b`
  static constexpr int64_t kMostDepth = 16;  // of a row of a tile of `a`

  struct Operand {
    tir::Buffer buffer;
    // The offset of the first tile's first element, in terms of the variables
    // of `steps`.
    tir::Expr offset;
    // From one row to the next: of `b` too, whose rows are the steps i.
    int64_t row_stride = 0;
    // From one tile of 16 columns to the next: of `sum` and `b`.
    int64_t column_stride = 0;
  };
  struct Term {
    Operand a, b;
  };

  bool is_of_bytes = false;
  bool is_a_signed = false;            // of bytes; else those of `b` are
  std::vector<const tir::For*> steps;  // outermost first
  Operand sum;                         // the columns of a tile side by side
  int64_t rows = 1, columns = 1;       // at most two tiles each
  int64_t depth = 1;                   // at most kMostDepth
  std::vector<Term> terms;             // at least one; of equal types

  int64_t row_tiles() const { return (rows + kRows - 1) / kRows; }
  int64_t column_tiles() const { return (columns + kColumns - 1) / kColumns; }
};

// Reads a nest. `loop` must outlive the result. InvalidArgument says what does
// not fit.
absl::StatusOr<TileNest> ReadTileNest(const tir::For& loop,
                                      const tir::Bounds& bounds);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_TILE_NEST_H_
