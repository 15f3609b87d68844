// A tensorized loop nest of a block's threads as multiplications by warps.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_WARP_NEST_H_
#define INGOT_COMPILER_CODEGEN_LLVM_WARP_NEST_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// In a loop over threads, of which 32 are a warp with eight rows of four:
//
//   sum[i, j, e] += for each of the terms k: a[row, i, k] * b[column, e, j, k]
//
// A thread's own sums are those of its row, in groups i of eight rows (of the
// warp's threads), and of its column's pair e, in groups j of eight columns
// (four of the threads by two). Operands are 16-bit floats in memory that the
// block shares, of which the elements of a group, or those of eight terms, lie
// side by side at a multiple of 16 bytes. This is how the units of NVIDIA's
// GPUs take operands (PTX ISA, mma.m16n8k16 and ldmatrix).
//
// Four warps may do it together, where the sums of one are 16 rows and all
// columns, the four have neighbouring rows, and operands are rows of 128 bytes,
// of 64 terms or of 64 elements of a term, that lie one after the other
// (wgmma.mma_async). Their units want such rows swizzled, as copies of boxes
// leave them (box_copy.h).
//
// Or operands are f32, of which the units multiply what TF32 keeps: 10 binary
// digits after the first, rounded (mma.m16n8k8). Then four terms lie side by
// side, or elements anyhow.
struct WarpNest {
  static constexpr int64_t kThreads = 32, kRowThreads = 8, kColumnThreads = 4;
  static constexpr int64_t kGroupWarps = 4;
  static constexpr int64_t kGroup = 8;  // rows or columns

  struct Operand {
    tir::Buffer buffer;
    // The offset of the warp's first element, in terms of `warp`.
    tir::Expr offset;
    // In elements: from one of a group to the next, to the next group, to the
    // next term, and to the term that is HalfTerms() later.
    int64_t element_stride = 0, group_stride = 0, term_stride = 0,
            half_stride = 0;
    // So many groups come in such strides, then as many others: 0 for all.
    int64_t chunk_groups = 0, chunk_stride = 0;

    bool TermsAreTogether() const { return term_stride == 1; }
    int64_t OffsetOfGroup(int64_t group) const {
      if (chunk_groups == 0) return group * group_stride;
      return group / chunk_groups * chunk_stride +
             group % chunk_groups * group_stride;
    }
  };

  // Terms of half a multiplication: 16 bytes of a row.
  int64_t HalfTerms() const {
    return 16 / static_cast<int64_t>(a.buffer->dtype.bytes());
  }
  bool IsOfTf32() const { return a.buffer->dtype == DataType::Float(32); }

  // The number of a thread's sum: those of a column group come one after the
  // other, as wgmma has them.
  size_t SumAt(int64_t row_group, int64_t column_group, int64_t of_pair) const {
    return static_cast<size_t>((column_group * row_groups + row_group) * 2 +
                               of_pair);
  }

  tir::VarPtr warp;  // the number of the warp in its block
  int64_t warps = 0;
  int64_t terms = 0, row_groups = 0, column_groups = 0;
  Operand a, b;
  tir::Buffer sum;
  tir::Expr sum_offset;
  int64_t sum_row_stride = 0, sum_column_stride = 0, sum_pair_stride = 0;
  // Whether four warps may do it together, if rows are swizzled.
  bool fits_groups = false;
};

// The tensorized loop that is all that the iterations of a loop over threads
// do, after values are named; null where they do something else.
const tir::For* TensorizedIn(const tir::For& threads);

// Reads the nest of such a loop. InvalidArgument says what does not fit.
absl::StatusOr<WarpNest> ReadWarpNest(const tir::For& threads,
                                      const tir::Bounds& bounds);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_WARP_NEST_H_
