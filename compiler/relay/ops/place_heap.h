// A binary heap of places in a kernel that is written by hand. Internal to
// compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_PLACE_HEAP_H_
#define INGOT_COMPILER_RELAY_OPS_PLACE_HEAP_H_

#include <functional>
#include <string>
#include <utility>

#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {

// Whether value `a` comes before `b`, which equal ones do where `if_equal`.
// NaNs do not, nor does anything come before them.
Expr ComesBefore(const Expr& a, const Expr& b, const Expr& if_equal,
                 bool largest_first);

// An element as it is ranked: by its value, then by its place. NaNs come after
// all else: they rank as the last value at a place after all others, so that
// two comparisons decide.
struct Ranked {
  Expr value, place;

  // Whether it comes before `other`; no two come before each other.
  Expr Before(const Ranked& other, bool largest_first) const;
};
Ranked Rank(const Expr& value, const Expr& place, bool largest_first);
// The place of a ranked element, and whether it is a NaN's.
Expr PlaceOf(const Ranked& element);
Expr IsNan(const Ranked& element);

// Keeps ranked elements in slots so that the one in slot 0 comes before all
// others, and that in slot s before those in slots 2s + 1 and 2s + 2. Each
// operation takes as many steps as the size has bits.
class PlaceHeap {
 public:
  using Before = std::function<Expr(const Ranked& a, const Ranked& b)>;

  // Has slots for so many values of that type; `before` says which of two comes
  // first.
  PlaceHeap(DataType type, const Dim& slots, Before before)
      : before_(std::move(before)),
        values_(tir::MakeBuffer("heap_values", type, {slots},
                                tir::Scope::kWorkspace)),
        places_(tir::MakeBuffer("heap_places", DataType::Int(64), {slots},
                                tir::Scope::kWorkspace)),
        sinking_("sinking", type),
        left_("left", type),
        right_("right", type) {}

  // `body`, in which the statements below may stand.
  Stmt With(Stmt body) const;
  Ranked At(const Expr& slot) const;
  Stmt Put(const Expr& slot, const Ranked& element) const;
  // Makes a heap of `size` elements in any order.
  Stmt Order(const Expr& size) const;
  // The heap again, of `size` elements, after slot 0 got another one.
  Stmt Restore(const Expr& size) const { return SiftDown(I64(0), size); }
  // Takes the element in slot 0 away, which `use` sees there, of `size`.
  Stmt Pop(const Expr& size, Stmt use) const;

 private:
  // An element that statements change.
  struct Held {
    Held(const std::string& name, DataType type)
        : value(name + "_value", type),
          place(name + "_place", DataType::Int(64)) {}

    const Cell value, place;

    Ranked Get() const { return {value.value(), place.value()}; }
    Stmt Set(const Ranked& element) const {
      return MakeSeq({value.Set(element.value), place.Set(element.place)});
    }
  };

  Stmt SiftDown(const Expr& from, const Expr& size) const;

  const Before before_;
  const tir::Buffer values_, places_;
  const Held sinking_, left_, right_;
  const Cell hole_{"hole", DataType::Int(64)};
  const Cell child_{"child", DataType::Int(64)};
};

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_PLACE_HEAP_H_
