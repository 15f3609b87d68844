// A binary heap of places in a kernel that is written by hand. Internal to
// compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_PLACE_HEAP_H_
#define INGOT_COMPILER_RELAY_OPS_PLACE_HEAP_H_

#include <functional>

#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {

// Whether value `a` comes before `b`. NaNs come after all else.
Expr Beats(const Expr& a, const Expr& b, bool largest_first);

// Whether the element at place `a` comes before that at `b`, by values and
// then by places; no two come before each other.
Expr ComesBefore(const Expr& value_a, const Expr& a, const Expr& value_b,
                 const Expr& b, bool largest_first);

// Keeps places (i64) in slots so that the one in slot 0 comes before all
// others, and that in slot s before those in slots 2s + 1 and 2s + 2. Each
// operation takes as many steps as the largest size has bits.
class PlaceHeap {
 public:
  // How slots are read and written, and which of two places comes first.
  struct Slots {
    std::function<Expr(const Expr& slot)> load;
    std::function<Stmt(const Expr& slot, const Expr& place)> store;
    std::function<Expr(const Expr& a, const Expr& b)> before;
  };
  explicit PlaceHeap(Slots slots) : slots_(std::move(slots)) {}

  // `body`, in which the statements below may stand, for sizes up to `largest`.
  Stmt With(const Expr& largest, Stmt body) const;

  // Makes a heap of `size` places in any order.
  Stmt Order(const Expr& size) const;
  // The heap again, of `size` places, after slot 0 got another one.
  Stmt Restore(const Expr& size) const { return SiftDown(I64(0), size); }

 private:
  Stmt SiftDown(const Expr& from, const Expr& size) const;

  const Slots slots_;
  const Cell levels_{"levels", DataType::Int(64)};
  const Cell reach_{"reach", DataType::Int(64)};
  const Cell held_{"held", DataType::Int(64)};
  const Cell hole_{"hole", DataType::Int(64)};
  const Cell child_{"child", DataType::Int(64)};
};

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_PLACE_HEAP_H_
