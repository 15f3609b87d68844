#ifndef INGOT_COMPILER_DRIVER_MAIN_ARENA_LAYOUT_H_
#define INGOT_COMPILER_DRIVER_MAIN_ARENA_LAYOUT_H_

#include "compiler/tir/ir.h"

namespace ingot {

// Places in the arena of a whole model, handed out like a stack: what a branch
// or a loop needs is free again after it.
class ArenaLayout {
 public:
  ArenaLayout() : end_(tir::MakeInt(0)), peak_(tir::MakeInt(0)) {}

  // The offset of `bytes` bytes, a multiple of kAlignment.
  tir::Expr Allocate(const tir::Expr& bytes);

  // The offset of the next place; Release gives back all that came after it.
  tir::Expr mark() const { return end_; }
  void Release(tir::Expr mark) { end_ = std::move(mark); }

  // Whether there is any place; one of no bytes is in the arena, too.
  bool is_used() const { return is_used_; }
  // The size of the arena.
  const tir::Expr& bytes() const { return peak_; }

 private:
  tir::Expr end_, peak_;
  bool is_used_ = false;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_MAIN_ARENA_LAYOUT_H_
