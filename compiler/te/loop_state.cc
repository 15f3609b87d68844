#include "compiler/te/loop_state.h"

#include <algorithm>

namespace ingot::te {

using tir::MakeInt;

namespace {

const std::optional<int64_t> kOne(1);

Affine CeilDiv(const Affine& a, int64_t b, const Bounds& bounds) {
  return FloorDiv(a + Affine(b - 1), Affine(b), bounds);
}

}  // namespace

// Whether the stage's loops read or write an array on the stack of the thread
// that runs them, which other threads do not see.
bool LoopState::TouchesStack() const {
  const auto on_stack = [](const tir::Buffer& buffer) {
    return buffer->scope == tir::Scope::kStack;
  };
  if (on_stack(target.buffer)) return true;
  for (const Tensor& t : stage->op().inputs) {
    const auto it = places.find(t.buffer.get());
    if (it != places.end() && on_stack(it->second.buffer)) return true;
  }
  return false;
}

LoopState LoopState::Of(const Stage* producer,
                        std::vector<Side> its_box) const {
  LoopState inner(producer, std::move(its_box), bounds);
  inner.places = places;
  inner.in_parallel = in_parallel;
  inner.task = task;
  inner.in_thread = in_thread;
  inner.stack_bytes = stack_bytes;
  return inner;
}

tir::ForKind LoopState::EnterLoop(tir::ForKind kind, bool has_constant_extent) {
  using tir::ForKind;
  switch (kind) {
    case ForKind::kVectorized:
    case ForKind::kUnrolled:
      if (!has_constant_extent) kind = ForKind::kSerial;
      break;
    case ForKind::kParallel:
    case ForKind::kBlock:
      if (in_parallel || (kind == ForKind::kParallel && TouchesStack())) {
        kind = ForKind::kSerial;
      }
      in_parallel = true;
      break;
    case ForKind::kThread:
      if (in_thread) kind = ForKind::kSerial;
      in_thread = true;
      break;
    default:
      break;
  }
  if (in_tensorized) return ForKind::kSerial;
  in_tensorized = kind == ForKind::kTensorized;
  return kind;
}

bool LoopState::IsShared(int loop) const {
  return stage->loops_[loop].kind == tir::ForKind::kParallel && !in_parallel &&
         !TouchesStack();
}

Lets LoopState::NameFused(int loop) {
  Lets lets;
  std::vector<int> work = {loop};
  while (!work.empty()) {
    const int parent = stage->loops_[work.back()].parent;
    work.pop_back();
    if (parent < 0 || stage->relations_[parent].is_split) continue;
    const auto& r = stage->relations_[parent];
    for (int part : {r.outer, r.inner}) {
      Affine value = Range(part).min;
      const Affine extent = Extent(part);
      if (!value.IsConstant() && SingleVar(value) == nullptr) {
        tir::VarPtr let = tir::MakeVar(stage->loops_[part].name);
        lets.emplace_back(let, value.ToExpr());
        value = Affine::Atom(let);
        bounds.Set(let.get(), Affine(0), extent - Affine(1));
      }
      Bind(part, value);
      work.push_back(part);
    }
  }
  return lets;
}

void LoopState::KnowPart(int axis, const std::optional<Affine>& from,
                         const std::optional<Affine>& to) {
  const Side side = AxisRange(axis);
  if (side.extent.AsConst() != kOne) return;
  const auto know = [this](const Affine& difference) {
    if (bounds.ProveNonNegative(difference)) return;
    bounds.PushFact(tir::Ge(difference.ToExpr(), MakeInt(0)));
  };
  if (from) know(side.min - *from);
  if (to) know(*to - side.min - Affine(1));
}

bool LoopState::HasNeighbours() const {
  const int loop = stage->neighbours_.id;
  return loop >= 0 && !IsBound(loop);
}

int LoopState::FirstLeaf(int loop) const {
  const auto& info = stage->loops_[loop];
  if (info.split >= 0) {
    const auto& r = stage->relations_[info.split];
    return std::min(FirstLeaf(r.outer), FirstLeaf(r.inner));
  }
  if (info.fuse >= 0) return FirstLeaf(stage->relations_[info.fuse].whole);
  return stage->LeafIndex({loop});
}

Tail LoopState::TailOf(int relation) const {
  const auto& r = stage->relations_[relation];
  Affine extent = Extent(r.whole);
  auto constant = extent.AsConst();
  if (constant && *constant <= r.factor) return Tail::kExact;
  if (extent.IsMultipleOf(r.factor)) return Tail::kExact;
  if (r.tail == Tail::kShiftInwards) {
    bool large = bounds.ProveNonNegative(extent - Affine(r.factor));
    return large ? Tail::kShiftInwards : Tail::kGuard;
  }
  if (r.tail == Tail::kPartition) {
    // A fused loop is cut where its outermost ends, at a known place.
    const int at = FirstLeaf(r.outer);
    const int leaf = at >= 0 ? stage->leaves()[at].id : -1;
    const bool leads =
        leaf == r.outer || (constant && stage->LeadOf(leaf) == r.outer);
    const bool possible = leads && at < FirstLeaf(r.inner);
    return possible ? Tail::kPartition : Tail::kGuard;
  }
  if (r.tail == Tail::kShorten) {
    const bool possible = FirstLeaf(r.outer) < FirstLeaf(r.inner);
    return possible ? Tail::kShorten : Tail::kGuard;
  }
  return r.tail;
}

namespace {

// Where a tile's elements are written out and fewer than this are left, one
// tile of just as many takes them.
constexpr int64_t kFew = 8;

}  // namespace

bool LoopState::IsWrittenOut(int relation) const {
  const int inner = stage->relations_[relation].inner;
  return stage->loops_[inner].kind == tir::ForKind::kUnrolled;
}

// One or two elements take about as long as half of a tile, so that two halves,
// nearly, take less time than a tile and what it leaves over.
bool LoopState::SharesLastTile(int relation) const {
  constexpr int64_t kLeast = 4;
  const int64_t factor = stage->relations_[relation].factor;
  return IsWrittenOut(relation) && base_.empty() && factor >= kLeast &&
         factor < kFew;
}

Affine LoopState::WholeTiles(int relation) const {
  const auto& r = stage->relations_[relation];
  const Expr whole = Extent(r.whole).ToExpr();
  Expr tiles = whole / MakeInt(r.factor);
  if (SharesLastTile(relation)) {
    // One less where the rest is 1 or 2.
    const Expr missing = (MakeInt(0) - whole) % MakeInt(r.factor);
    tiles = tir::Max(tiles - missing / MakeInt(r.factor - 2), MakeInt(0));
  }
  return bounds.ToAffine(tiles);
}

// A mere vector becomes single elements. Tiles get smaller tiles, since one
// element at a time would leave a processor idle most of the time: of a fourth
// of the size, so that there is not too much code. Of few elements that are
// written out, any number is a tile; but in the corner of two tails, which is
// small, tiles of half the size are enough.
std::vector<int64_t> LoopState::TailSteps(int relation) const {
  constexpr int64_t kRatio = 4;
  const auto& r = stage->relations_[relation];
  const bool is_written_out = IsWrittenOut(relation);
  const bool is_corner = !base_.empty();
  std::vector<int64_t> steps;
  if (stage->loops_[r.inner].split >= 0 || is_written_out) {
    for (int64_t step = r.factor; step > 1;) {
      if (!is_written_out || step >= kFew) {
        step /= kRatio;
      } else {
        step = is_corner ? step / 2 : step - 1;
      }
      if (step > 1) steps.push_back(step);
    }
  }
  steps.push_back(1);
  return steps;
}

Affine LoopState::TimesOf(int64_t step, const Affine& left,
                          int relation) const {
  const int64_t factor = stage->relations_[relation].factor;
  Expr elements = left.ToExpr();
  // A step larger than half of a shared tile and its rest, which are factor + 1
  // or factor + 2, takes none of these.
  if (SharesLastTile(relation) && 2 * step > factor + 3) {
    elements = elements % MakeInt(factor + 1);
  }
  return bounds.ToAffine(elements / MakeInt(step));
}

Affine LoopState::Extent(int loop) const {
  if (auto it = extent_.find(loop); it != extent_.end()) return it->second;
  const auto& info = stage->loops_[loop];
  if (info.parent < 0) {
    return info.reduce ? bounds.ToAffine(stage->op().reduce_extent[info.axis])
                       : box[info.axis].extent;
  }
  const auto& r = stage->relations_[info.parent];
  if (!r.is_split) {
    Affine a = Extent(r.outer), b = Extent(r.inner);
    return bounds.ToAffine(a.ToExpr() * b.ToExpr());
  }
  Affine whole = Extent(r.whole);
  auto constant = whole.AsConst();
  if (loop == r.inner) {
    if (TailOf(info.parent) == Tail::kShorten) {
      const Side outer = Range(r.outer);
      if (outer.extent.AsConst() == kOne) {
        const Affine left = whole - outer.min * r.factor;
        return bounds.ToAffine(tir::Min(MakeInt(r.factor), left.ToExpr()));
      }
    }
    return constant && *constant <= r.factor ? whole : Affine(r.factor);
  }
  if (constant && *constant <= r.factor) return Affine(1);
  if (TailOf(info.parent) == Tail::kExact) {
    return FloorDiv(whole, Affine(r.factor), bounds);
  }
  return CeilDiv(whole, r.factor, bounds);
}

Side LoopState::SplitRange(int relation) const {
  const auto& r = stage->relations_[relation];
  Side inner = Range(r.inner);
  if (auto it = base_.find(relation); it != base_.end()) {
    return {it->second + inner.min, inner.extent, inner.inexact};
  }
  Side outer = Range(r.outer);
  Affine whole = Extent(r.whole);
  if (outer.extent.AsConst() == kOne) {
    Affine base = outer.min * r.factor;
    if (TailOf(relation) == Tail::kShiftInwards) {
      base = bounds.ToAffine(
          tir::Min(base.ToExpr(), (whole - Affine(r.factor)).ToExpr()));
    }
    return {base + inner.min, inner.extent, outer.inexact || inner.inexact};
  }
  const bool all = outer.min == Affine(0) && inner.min == Affine(0) &&
                   outer.extent == Extent(r.outer) &&
                   inner.extent == Extent(r.inner);
  if (all) return {Affine(0), whole};
  return {outer.min * r.factor + inner.min,
          (outer.extent - Affine(1)) * r.factor + inner.extent,
          outer.inexact || inner.inexact ||
              inner.extent.AsConst() != std::optional<int64_t>(r.factor)};
}

Side LoopState::FuseRange(int relation, bool outer) const {
  const auto& r = stage->relations_[relation];
  Side whole = Range(r.whole);
  Affine inner_extent = Extent(r.inner);
  auto width = whole.extent.AsConst();
  if (width == kOne) {
    return {outer ? FloorDiv(whole.min, inner_extent, bounds)
                  : FloorMod(whole.min, inner_extent, bounds),
            Affine(1), whole.inexact};
  }
  auto row = inner_extent.AsConst();
  if (whole.min == Affine(0) && whole.extent == Extent(r.whole)) {
    return {Affine(0), Extent(outer ? r.outer : r.inner)};
  }
  if (width && row && *row % *width == 0 && whole.min.IsMultipleOf(*width)) {
    // A part of one row.
    if (outer) return {FloorDiv(whole.min, Affine(*row), bounds), Affine(1)};
    return {FloorMod(whole.min, Affine(*row), bounds), Affine(*width)};
  }
  if (width && row && *width % *row == 0 && whole.min.IsMultipleOf(*row)) {
    // Whole rows.
    if (outer) {
      return {FloorDiv(whole.min, Affine(*row), bounds), Affine(*width / *row)};
    }
    return {Affine(0), inner_extent};
  }
  if (!outer) return {Affine(0), inner_extent, /*inexact=*/true};
  if (width && row) {
    return {FloorDiv(whole.min, Affine(*row), bounds),
            Affine((*width - 1 + *row - 1) / *row + 1), /*inexact=*/true};
  }
  return {Affine(0), Extent(r.outer), /*inexact=*/true};
}

Side LoopState::Range(int loop) const {
  if (auto it = value_.find(loop); it != value_.end()) {
    return {it->second, Affine(1)};
  }
  const auto& info = stage->loops_[loop];
  if (info.split >= 0) return SplitRange(info.split);
  if (info.fuse >= 0) {
    return FuseRange(info.fuse, stage->relations_[info.fuse].outer == loop);
  }
  Affine extent = Extent(loop);
  return {Affine(0), extent};
}

Side LoopState::AxisRange(int axis) const {
  Side range = Range(stage->axes_[axis].id);
  range.min = range.min + box[axis].min;
  return range;
}

Side LoopState::ReduceRange(int axis) const {
  return Range(stage->reduce_axes_[axis].id);
}

bool LoopState::HasThreads() const {
  return std::any_of(stage->loops_.begin(), stage->loops_.end(),
                     [](const auto& loop) {
                       return loop.kind == tir::ForKind::kThread ||
                              loop.kind == tir::ForKind::kBlock;
                     });
}

bool LoopState::IsOfFused(int loop) const {
  const auto& info = stage->loops_[loop];
  if (info.fuse >= 0) return true;
  // Boxes of threads have the shape that the threads' shares say.
  if (HasThreads()) return false;
  // Elsewhere a split's loops are not all that its values depend on.
  if (info.split < 0 || base_.count(info.split) != 0 ||
      TailOf(info.split) == Tail::kShiftInwards) {
    return false;
  }
  const auto& r = stage->relations_[info.split];
  return IsOfFused(r.outer) || IsOfFused(r.inner);
}

Expr LoopState::FusedValue(int loop, std::map<int, tir::VarPtr>* loops) const {
  const auto& info = stage->loops_[loop];
  if (!IsOfFused(loop)) {
    tir::VarPtr& var = (*loops)[loop];
    if (var == nullptr) var = tir::MakeVar(info.name);
    return var;
  }
  if (info.fuse < 0) {
    const auto& r = stage->relations_[info.split];
    return FusedValue(r.outer, loops) * r.factor + FusedValue(r.inner, loops);
  }
  const auto& r = stage->relations_[info.fuse];
  const Expr whole = FusedValue(r.whole, loops);
  const Expr inner = Extent(r.inner).ToExpr();
  return r.outer == loop ? whole / inner : whole % inner;
}

FusedAxes LoopState::Fused() const {
  FusedAxes result;
  std::map<int, tir::VarPtr> loops;
  bool is_inexact = false;
  for (size_t i = 0; i < stage->axes_.size(); ++i) {
    const int loop = stage->axes_[i].id;
    if (!IsOfFused(loop)) continue;
    result.values[stage->op().axis[i].get()] =
        FusedValue(loop, &loops) + box[i].min.ToExpr();
    is_inexact = is_inexact || box[i].inexact;
  }
  for (const auto& [loop, var] : loops) {
    Side range = Range(loop);
    range.inexact = range.inexact || is_inexact || HasGuards(loop) ||
                    ComesFromGuarded(loop);
    result.ranges.emplace(var.get(), std::move(range));
  }
  return result;
}

std::vector<Expr> LoopState::Conditions() const {
  std::vector<Expr> conditions;
  auto need_less = [&](const Affine& a, const Affine& b) {
    if (!bounds.ProveLess(a, b)) {
      conditions.push_back(tir::Lt(a.ToExpr(), b.ToExpr()));
    }
  };
  for (size_t i = 0; i < stage->relations_.size(); ++i) {
    const auto& r = stage->relations_[i];
    if (!r.is_split || base_.count(i) != 0) continue;
    if (TailOf(i) != Tail::kGuard) continue;
    // Reduce loops do not exist where the identity is stored.
    Side range = Range(r.whole);
    if (range.extent.AsConst() != kOne) continue;
    need_less(range.min, Extent(r.whole));
  }
  for (size_t i = 0; i < box.size(); ++i) {
    if (!box[i].inexact) continue;
    Affine value = AxisRange(i).min;
    Affine size = bounds.ToAffine(stage->output().shape()[i]);
    if (!bounds.ProveNonNegative(value)) {
      conditions.push_back(tir::Ge(value.ToExpr(), MakeInt(0)));
    }
    need_less(value, size);
  }
  return conditions;
}

bool LoopState::IsGuarded(int relation) const {
  return stage->relations_[relation].is_split && base_.count(relation) == 0 &&
         TailOf(relation) == Tail::kGuard;
}

bool LoopState::ComesFromGuarded(int loop) const {
  const int parent = stage->loops_[loop].parent;
  if (parent < 0) return false;
  const auto& r = stage->relations_[parent];
  if (!r.is_split)
    return ComesFromGuarded(r.outer) || ComesFromGuarded(r.inner);
  return (r.inner == loop && IsGuarded(parent)) || ComesFromGuarded(r.whole);
}

bool LoopState::HasGuards(int loop) const {
  const auto& info = stage->loops_[loop];
  if (info.fuse >= 0) return HasGuards(stage->relations_[info.fuse].whole);
  if (info.split < 0) return false;
  const auto& r = stage->relations_[info.split];
  return IsGuarded(info.split) || HasGuards(r.outer) || HasGuards(r.inner);
}

bool LoopState::MayExceed(int axis) const {
  return box[axis].inexact || HasGuards(stage->axes_[axis].id);
}

bool LoopState::ReduceMayExceed(int axis) const {
  return HasGuards(stage->reduce_axes_[axis].id);
}

}  // namespace ingot::te
