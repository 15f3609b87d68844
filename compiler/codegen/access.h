// Where a load or store touches memory: its indices as one element offset.
#ifndef INGOT_COMPILER_CODEGEN_ACCESS_H_
#define INGOT_COMPILER_CODEGEN_ACCESS_H_

#include <vector>

#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// The offset, in elements, of `indices` in the dense row-major `buffer`,
// simplified. A scalar where all indices are; a vector where one is.
tir::Expr FlattenIndex(const tir::BufferNode& buffer,
                       const std::vector<tir::Expr>& indices,
                       const tir::Bounds* bounds = nullptr);

// The elements that one access touches.
struct Access {
  int lanes = 1;
  // Scalar; lane by lane base, base + stride, … or base + its offset.
  tir::Expr base;
  tir::Expr stride;  // null for a scalar access
  // One offset per lane, for a vector access that no stride describes.
  tir::Expr offsets;

  bool scalar() const { return lanes == 1; }
  bool is_ramp() const { return stride != nullptr; }
  bool contiguous() const { return tir::IsConstInt(stride, 1); }
  bool reversed() const { return tir::IsConstInt(stride, -1); }
  bool uniform() const { return tir::IsConstInt(stride, 0); }
};

Access AnalyzeAccess(const tir::BufferNode& buffer,
                     const std::vector<tir::Expr>& indices,
                     const tir::Bounds* bounds = nullptr);

// Whether every lane is inside of the buffer, as far as `bounds` can tell:
// then the access may run under any condition. False means "not known".
bool InBounds(const tir::BufferNode& buffer,
              const std::vector<tir::Expr>& indices, const tir::Bounds& bounds);

// Whether `e`, evaluated without asking the conditions of what surrounds it,
// could touch memory outside of a buffer. A load inside of a Select in `e` is
// safe if that Select's condition makes it so.
bool MayFault(const tir::Expr& e, const tir::Bounds& bounds);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_ACCESS_H_
