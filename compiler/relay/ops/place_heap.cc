#include "compiler/relay/ops/place_heap.h"

#include <limits>
#include <utility>

namespace ingot::relay::ops {
namespace {

// No size has more bits.
constexpr int64_t kMostLevels = 48;

// Is added to the places of NaNs.
constexpr int64_t kAfterAll = int64_t{1} << 62;

}  // namespace

Expr Ranked::Before(const Ranked& other, bool largest_first) const {
  const Expr comes =
      largest_first ? Gt(value, other.value) : Lt(value, other.value);
  return Or(comes, And(Eq(value, other.value), Lt(place, other.place)));
}

Ranked Rank(const Expr& value, const Expr& place, bool largest_first) {
  const DataType type = value->dtype;
  if (!type.is_float()) return {value, place};
  const double infinity = std::numeric_limits<double>::infinity();
  const Expr last = MakeConst(type, largest_first ? -infinity : infinity);
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
  body = WithCells({&levels_, &reach_, &hole_, &child_}, std::move(body));
  for (const Held* held : {&sinking_, &left_, &right_}) {
    body = WithCells({&held->value, &held->place}, std::move(body));
  }
  return tir::MakeAllocate(values_,
                           tir::MakeAllocate(places_, std::move(body)));
}

Stmt PlaceHeap::Prepare(const Expr& largest) const {
  // A path through a heap of 2^n places has n steps.
  return MakeSeq({levels_.Set(0), reach_.Set(1),
                  Loop("l", I64(kMostLevels), [&](const Expr&) {
                    return MakeIf(
                        Lt(reach_.value(), largest),
                        MakeSeq({levels_.Increment(),
                                 reach_.Set(reach_.value() * I64(2))}));
                  })});
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
  // otherwise no child is looked for any more. Children are compared where they
  // are held, so that no memory is read under a condition: which of them comes
  // first is not to be guessed.
  const Expr left = hole_.value() * I64(2) + 1;
  const Expr right = Min(left + 1, size - 1);
  const Stmt step = MakeSeq(
      {left_.Set(At(left)), right_.Set(At(right)),
       child_.Set(MakeSelect(before_(right_.Get(), left_.Get()), right, left)),
       right_.Set(At(child_.value())),
       MakeIf(before_(sinking_.Get(), right_.Get()), child_.Set(-1),
              MakeSeq({Put(hole_.value(), right_.Get()),
                       hole_.Set(child_.value())}))});
  const Stmt path = Loop("l", levels_.value(), [&](const Expr&) {
    return MakeIf(Ge(child_.value(), I64(0)), MakeIf(Lt(left, size), step));
  });
  return MakeSeq({hole_.Set(from), sinking_.Set(At(from)), child_.Set(0), path,
                  Put(hole_.value(), sinking_.Get())});
}

}  // namespace ingot::relay::ops
