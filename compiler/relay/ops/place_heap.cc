#include "compiler/relay/ops/place_heap.h"

#include <utility>

namespace ingot::relay::ops {
namespace {

// No size has more bits.
constexpr int64_t kMostLevels = 48;

}  // namespace

Expr Beats(const Expr& a, const Expr& b, bool largest_first) {
  const Expr ordered = largest_first ? Gt(a, b) : Lt(a, b);
  if (!a->dtype.is_float()) return ordered;
  return Or(ordered, And(Ne(b, b), Eq(a, a)));
}

Expr ComesBefore(const Expr& value_a, const Expr& a, const Expr& value_b,
                 const Expr& b, bool largest_first) {
  const Expr equal = tir::MakeSelect(Beats(value_b, value_a, largest_first),
                                     tir::MakeBool(false), Lt(a, b));
  return Or(Beats(value_a, value_b, largest_first), equal);
}

Stmt PlaceHeap::With(const Expr& largest, Stmt body) const {
  // A path through a heap of 2^n places has n steps.
  const Stmt count = Loop("l", I64(kMostLevels), [&](const Expr&) {
    return MakeIf(
        Lt(reach_.value(), largest),
        MakeSeq({levels_.Increment(), reach_.Set(reach_.value() * I64(2))}));
  });
  return WithCells({&levels_, &reach_, &held_, &hole_, &child_},
                   MakeSeq({reach_.Set(1), count, std::move(body)}));
}

Stmt PlaceHeap::Order(const Expr& size) const {
  const Expr parents = FloorDiv(size, 2);
  return Loop("s", parents,
              [&](const Expr& s) { return SiftDown(parents - 1 - s, size); });
}

Stmt PlaceHeap::SiftDown(const Expr& from, const Expr& size) const {
  // The child that comes first goes up, if it comes before what is held;
  // otherwise no child is looked for any more.
  const Expr left = hole_.value() * I64(2) + 1;
  const Expr right = Min(left + 1, size - 1);
  const Expr first = tir::MakeSelect(
      slots_.before(slots_.load(right), slots_.load(left)), right, left);
  const Expr up = slots_.load(child_.value());
  const Stmt step =
      MakeSeq({child_.Set(first),
               MakeIf(slots_.before(held_.value(), up), child_.Set(-1)),
               MakeIf(Ge(child_.value(), I64(0)),
                      MakeSeq({slots_.store(hole_.value(), up),
                               hole_.Set(child_.value())}))});
  const Stmt path = Loop("l", levels_.value(), [&](const Expr&) {
    return MakeIf(Ge(child_.value(), I64(0)), MakeIf(Lt(left, size), step));
  });
  return MakeSeq({hole_.Set(from), held_.Set(slots_.load(from)), child_.Set(0),
                  path, slots_.store(hole_.value(), held_.value())});
}

}  // namespace ingot::relay::ops
