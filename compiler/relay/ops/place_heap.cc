#include "compiler/relay/ops/place_heap.h"

#include <utility>

namespace ingot::relay::ops {
namespace {

// Is added to the places of NaNs.
constexpr int64_t kAfterAll = int64_t{1} << 62;

}  // namespace

Expr Ranked::Before(const Ranked& other, bool largest_first) const {
  return ComesBefore(value, other.value, Lt(place, other.place), largest_first);
}

Expr ComesBefore(const Expr& a, const Expr& b, const Expr& if_equal,
                 bool largest_first) {
  return largest_first ? Or(Gt(a, b), And(Ge(a, b), if_equal))
                       : Or(Lt(a, b), And(Le(a, b), if_equal));
}

Ranked Rank(const Expr& value, const Expr& place, bool largest_first) {
  const DataType type = value->dtype;
  if (!type.is_float()) return {value, place};
  const Expr last = largest_first ? LowestOf(type) : HighestOf(type);
  const Expr is_nan = Ne(value, value);
  return {MakeSelect(is_nan, last, value),
          MakeSelect(is_nan, place + I64(kAfterAll), place)};
}

Expr IsNan(const Ranked& element) { return Ge(element.place, I64(kAfterAll)); }

Expr PlaceOf(const Ranked& element) {
  return MakeSelect(IsNan(element), element.place - I64(kAfterAll),
                    element.place);
}

Stmt PlaceHeap::With(Stmt body) const {
  body = WithCells({&hole_, &child_}, std::move(body));
  for (const Held* held : {&sinking_, &left_, &right_}) {
    body = WithCells({&held->value, &held->place}, std::move(body));
  }
  return tir::MakeAllocate(values_,
                           tir::MakeAllocate(places_, std::move(body)));
}

Ranked PlaceHeap::At(const Expr& slot) const {
  return {MakeLoad(values_, {slot}), MakeLoad(places_, {slot})};
}

Stmt PlaceHeap::Put(const Expr& slot, const Ranked& element) const {
  return MakeSeq({MakeStore(values_, {slot}, element.value),
                  MakeStore(places_, {slot}, element.place)});
}

Stmt PlaceHeap::Order(const Expr& size) const {
  const Expr parents = FloorDiv(size, 2);
  return Loop("s", parents,
              [&](const Expr& s) { return SiftDown(parents - 1 - s, size); });
}

Stmt PlaceHeap::Pop(const Expr& size, Stmt use) const {
  return MakeSeq({std::move(use), Put(I64(0), At(size - 1)),
                  MakeIf(Gt(size, I64(1)), Restore(size - 1))});
}

Stmt PlaceHeap::SiftDown(const Expr& from, const Expr& size) const {
  // The child that comes first goes up, if it comes before the one that sinks;
  // otherwise that has found its place. Children are compared where they are
  // held, so that no memory is read under a condition: which of them comes
  // first is not to be guessed.
  const Expr left = child_.value(), right = Min(left + 1, size - 1);
  const Stmt step = MakeSeq(
      {left_.Set(At(left)), right_.Set(At(right)),
       child_.Set(MakeSelect(before_(right_.Get(), left_.Get()), right, left)),
       right_.Set(At(child_.value())),
       MakeIf(
           before_(sinking_.Get(), right_.Get()), child_.Set(size),
           MakeSeq({Put(hole_.value(), right_.Get()), hole_.Set(child_.value()),
                    child_.Set(hole_.value() * I64(2) + 1)}))});
  return MakeSeq({hole_.Set(from), sinking_.Set(At(from)),
                  child_.Set(from * I64(2) + 1),
                  tir::MakeWhile(Lt(child_.value(), size), step),
                  Put(hole_.value(), sinking_.Get())});
}

}  // namespace ingot::relay::ops
