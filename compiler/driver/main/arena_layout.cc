#include "compiler/driver/main/arena_layout.h"

#include <cstdint>
#include <utility>

#include "base/alignment.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot {

tir::Expr ArenaLayout::Allocate(const tir::Expr& bytes) {
  const auto unit = static_cast<int64_t>(kAlignment);
  is_used_ = true;
  const tir::Expr offset = end_;
  const tir::Expr units = (bytes + (unit - 1)) / tir::MakeInt(unit);
  const tir::Bounds bounds = tir::Bounds::Dimensions();
  end_ = tir::Simplify(offset + units * unit, &bounds);
  // Most often one of the two is the larger one, whatever the dimensions are.
  peak_ = tir::Prove(tir::Le(peak_, end_), &bounds)
              ? end_
              : tir::Simplify(tir::Max(peak_, end_), &bounds);
  return offset;
}

}  // namespace ingot
