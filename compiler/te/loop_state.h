// The state of making the loops of one stage: which have been made, and what is
// known of those that have not. Used by lower.cc only.
#ifndef INGOT_COMPILER_TE_LOOP_STATE_H_
#define INGOT_COMPILER_TE_LOOP_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/te/place.h"
#include "compiler/te/schedule.h"
#include "compiler/te/side.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

// The axes of a stage in terms of the loops that several of them were fused
// into, whose values are known more closely than each axis' are.
struct FusedAxes {
  std::map<const tir::Var*, Expr> values;  // of axes that were fused
  // The loops in these. Inexact means that some values are beyond the end of
  // the loop that it was split from.
  Box ranges;
};

// An iteration of a parallel loop that has a known number of them.
struct Task {
  Affine index;  // from 0
  int64_t count;
};

// Variables and what they stand for, in terms of those before them.
using Lets = std::vector<std::pair<tir::VarPtr, Expr>>;

// A value: making the body of a loop copies it, so that what one branch of the
// emitted code decides does not reach the other.
class LoopState {
 public:
  LoopState(const Stage* stage, std::vector<Side> box, Bounds bounds)
      : stage(stage),
        box(std::move(box)),
        bounds(std::move(bounds)),
        specialized_done(stage->axes().size(), false) {}

  const Stage* stage;
  std::vector<Side> box;  // of the output axes, what is to be computed
  Bounds bounds;          // of all variables in scope
  std::vector<bool> specialized_done;
  bool started = false;  // the reduction's identity has been stored
  Place target;          // where results go
  std::map<const tir::BufferNode*, Place>
      places;  // what may be read, looked up
  bool in_parallel = false;
  std::optional<Task> task;  // that of the parallel loop
  bool in_thread = false;
  bool in_tensorized = false;
  int64_t stack_bytes = 0;  // of the arrays that are live here

  // The state of a producer that is computed here, before its place is known.
  LoopState Of(const Stage* producer, std::vector<Side> its_box) const;

  // The kind that a loop gets among those around it, of which it is one from
  // here on.
  tir::ForKind EnterLoop(tir::ForKind kind, bool has_constant_extent);

  // Threads would share the loop's iterations.
  bool IsShared(int loop) const;

  // The number of iterations of a loop (leaf or not).
  Affine Extent(int loop) const;
  // The values that it takes in the loops yet to be made. Extent 1 once every
  // leaf under it is bound: min is then its value.
  Side Range(int loop) const;
  Side AxisRange(int axis) const;    // including the box's origin
  Side ReduceRange(int axis) const;  // of a reduce axis
  FusedAxes Fused() const;

  // Gives names to the parts of a fused loop that has a value, so that the
  // divisions are done once.
  Lets NameFused(int loop);
  void Bind(int loop, Affine value) { value_[loop] = std::move(value); }
  bool IsBound(int loop) const { return value_.count(loop) != 0; }
  // Keeps in mind, where an axis has one value, that it is at least `from` and
  // less than `to`.
  void KnowPart(int axis, const std::optional<Affine>& from,
                const std::optional<Affine>& to);
  // The loop over neighbours that skip zeros is yet to be made.
  bool HasNeighbours() const;
  void SetExtent(int loop, Affine extent) { extent_[loop] = std::move(extent); }
  // The value of outer * factor for a split, where it is something else.
  void SetBase(int relation, Affine base) { base_[relation] = std::move(base); }

  // The treatment that the split's tail gets in the end: kExact, kGuard,
  // kShiftInwards, or what the loops' order must allow.
  Tail TailOf(int relation) const;
  // How many whole tiles, of the split's factor, its outer loop of unknown
  // extent takes before those of its tail. The last of them may be the tail's,
  // which then takes it and the rest in two parts.
  Affine WholeTiles(int relation) const;
  // The sizes of inner loops that take what is left over then, one after the
  // other; the last of them is 1.
  std::vector<int64_t> TailSteps(int relation) const;
  // How often one of these is taken where so many elements are left.
  Affine TimesOf(int64_t step, const Affine& left, int relation) const;
  // Conditions that the values of bound loops must meet: guards of splits, and
  // the tensor's bounds where the box is inexact. Proven ones are left out.
  std::vector<Expr> Conditions() const;
  // A condition on the axis, or on the reduce axis, will be needed inside the
  // loops yet to be made.
  bool MayExceed(int axis) const;
  bool ReduceMayExceed(int axis) const;

 private:
  friend class Lowerer;
  bool IsWrittenOut(int relation) const;  // the split's inner loop
  bool SharesLastTile(int relation) const;
  // Whether the values of a split, or of one that a loop takes part in, need a
  // condition.
  bool IsGuarded(int relation) const;
  bool HasGuards(int loop) const;
  // Whether the loop is, or was fused with, the inner one of such a split.
  bool ComesFromGuarded(int loop) const;
  bool HasThreads() const;
  bool TouchesStack() const;
  // The place of the first (in leaf order) leaf made from `loop`.
  int FirstLeaf(int loop) const;
  Side SplitRange(int relation) const;
  Side FuseRange(int relation, bool outer) const;
  // Whether the loop was fused with another one, or is made of one that was.
  bool IsOfFused(int loop) const;
  Expr FusedValue(int loop, std::map<int, tir::VarPtr>* loops) const;

  std::map<int, Affine> value_, extent_, base_;
};

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_LOOP_STATE_H_
