#include "compiler/schedules/cpu/transposition.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/conditions.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

// A cache line, and how many vectors are written out.
constexpr int64_t kLineBytes = 64, kMostVectors = 32;

// Rows of a result that is as narrow stay in a cache until they are whole.
constexpr int64_t kNarrowBytes = 512;

// A last axis of twice as many elements is cut into parts, so that what these
// read lies in few pages.
constexpr int64_t kLongest = 256;

struct Transposition {
  int64_t vectors;  // of a block, along `axis`
  int64_t lanes;
  int axis;  // the one along which neighbours are read
  // Whether blocks may begin anywhere along it.
  bool anywhere;
  // Whether the innermost loop goes along `axis`, and not along the last one.
  bool along_read;
};

int64_t Bytes(DataType t) { return static_cast<int64_t>(t.bytes()); }

// Elements from one index of dimension `dim` to the next.
int64_t GuessStride(const std::vector<Expr>& shape, size_t dim) {
  int64_t stride = 1;
  for (size_t d = dim + 1; d < shape.size(); ++d) {
    stride *= GuessExtent(shape[d]);
  }
  return stride;
}

// The elements from what the load reads to what it reads at the next place of
// an axis, where that is more than one and everywhere the same.
std::optional<int64_t> StepAlong(const tir::Load& load, const tir::Var* axis) {
  std::optional<int64_t> step;
  for (size_t i = 0; i < load.indices.size(); ++i) {
    if (!tir::Uses(load.indices[i], axis)) continue;
    tir::Affine rest = tir::ToAffine(load.indices[i]);
    const int64_t coefficient = rest.CoefficientOf(axis);
    for (const tir::Term& term : rest.terms) {
      if (term.factors.size() == 1 && term.factors[0].get() == axis) continue;
      for (const Expr& factor : term.factors) {
        if (tir::Uses(factor, axis)) return std::nullopt;
      }
    }
    if (step.has_value() || coefficient <= 0) return std::nullopt;
    step = coefficient * GuessStride(load.buffer->shape, i);
  }
  if (step.has_value() && *step <= 1) return std::nullopt;
  return step;
}

// Whether the load reads neighbours in runs of so many places of the axis, or,
// where the axis has no more, in one.
bool ReadsRuns(const tir::Load& load, const tir::VarPtr& axis, int64_t run,
               bool once = false) {
  const Expr outer = once ? tir::MakeInt(0) : Expr(tir::MakeVar("outer"));
  const tir::VarPtr inner = tir::MakeVar("inner");
  tir::Bounds bounds = tir::Bounds::Dimensions();
  bounds.Set(inner.get(), 0, run - 1);
  std::vector<Expr> indices;
  for (const Expr& index : load.indices) {
    indices.push_back(tir::Simplify(
        tir::Substitute(index, {{axis.get(), outer * run + inner}}), &bounds));
  }
  const Expr read = tir::MakeLoad(load.buffer, std::move(indices));
  return AccessStride(*tir::As<tir::Load>(read), inner.get()) == 1;
}

// Returns how many vectors to write out along an axis, of which the load reads
// neighbours: as many as a line has elements, or fewer where these would
// compute many elements twice at the axis's end. 0: the load reads none.
int64_t VectorsAlong(const tir::Load& load, const tir::VarPtr& axis,
                     const Expr& extent) {
  const std::optional<int64_t> known = ConstExtent(extent);
  const bool everywhere = AccessStride(load, axis.get()) == 1;
  const int64_t most = std::min(kLineBytes / Bytes(load.dtype), kMostVectors);
  if (!everywhere && known && *known >= 2 && *known <= most &&
      ReadsRuns(load, axis, *known, /*once=*/true)) {
    return *known;
  }
  for (int64_t n = most; n >= 2; n /= 2) {
    if (everywhere) {
      if (!known) return n;
      const int64_t twice = CeilDiv(*known, n) * n - *known;
      if (*known >= n && twice <= *known / 4) return n;
    } else if ((tir::ToAffine(extent).IsMultipleOf(n) ||
                (known && *known > n)) &&
               ReadsRuns(load, axis, n)) {
      return n;
    }
  }
  return 0;
}

// Returns as many lanes as a vector has, or as are in the last axis.
int64_t LanesAlong(const Expr& extent, int64_t lanes) {
  const std::optional<int64_t> known = ConstExtent(extent);
  while (known && lanes > *known) lanes /= 2;
  return lanes;
}

std::optional<Transposition> TranspositionIn(const Stage& stage,
                                             const MachineModel& machine) {
  const Operation& op = stage.op();
  if (op.kind != OperationKind::kCompute || op.axis.size() < 2) {
    return std::nullopt;
  }
  const std::vector<Expr>& shape = stage.output().shape();
  const int64_t lanes = LanesAlong(shape.back(), LanesFor(stage, machine));
  if (lanes < 2) return std::nullopt;
  for (size_t i = 0; i < op.axis.size(); ++i) {
    if (!ConditionCuts(op, static_cast<int>(i), tir::Bounds::Dimensions())
             .empty()) {
      return std::nullopt;
    }
  }
  for (const tir::Load* load : LoadsOf(op.value)) {
    const std::optional<int64_t> step = StepAlong(*load, op.axis.back().get());
    if (!step) continue;
    for (size_t i = 0; i + 1 < op.axis.size(); ++i) {
      const int64_t vectors = VectorsAlong(*load, op.axis[i], shape[i]);
      if (vectors == 0) continue;
      const int64_t read = *step * Bytes(load->dtype);
      const int64_t written =
          GuessStride(shape, i) * Bytes(stage.output().dtype());
      return Transposition{vectors, lanes, static_cast<int>(i),
                           AccessStride(*load, op.axis[i].get()) == 1,
                           written <= kNarrowBytes && read > written};
    }
  }
  return std::nullopt;
}

// Loops of the last axis: over its parts, where it is long, vectors and lanes.
struct LastAxis {
  std::optional<Loop> parts;
  Loop vectors, lanes;
};

LastAxis CutLastAxis(Stage* stage, int64_t lanes) {
  const auto extent = ConstExtent(stage->output().shape().back());
  const Tail tail = extent ? Tail::kShiftInwards : Tail::kPartition;
  LastAxis result;
  Loop rest = stage->axes().back();
  if (extent && *extent >= 2 * kLongest) {
    const int64_t parts = CeilDiv(*extent, kLongest);
    const int64_t part = CeilDiv(CeilDiv(*extent, parts), lanes) * lanes;
    std::tie(result.parts, rest) = stage->Split(rest, part, tail);
  }
  std::tie(result.vectors, result.lanes) = stage->Split(rest, lanes, tail);
  return result;
}

// The loops around a block, outermost first, and how many of them are fused:
// enough to share. The index of a fused loop is divided, which takes long
// beside a few blocks.
class OuterLoops {
 public:
  // A loop with a tail of its own is fused with no other.
  void Add(Loop loop, int64_t iterations, bool may_fuse) {
    constexpr int64_t kEnough = 64;
    loops_.push_back(loop);
    fuses_ = fuses_ && may_fuse && shared_ < kEnough;
    if (!fuses_) return;
    ++fused_;
    shared_ *= iterations;
  }
  const std::vector<Loop>& loops() const { return loops_; }

  // Shares what they do among threads, if it is enough.
  void Share(Stage* stage) const {
    const bool parallel =
        !stage->IsAttached() &&
        GuessWork(stage) * ValueCost(stage->op().value) >= kParallelWork;
    if (fused_ > 0) {
      FuseParallel(stage, fused_, parallel);
    } else if (parallel) {
      stage->Parallel(loops_[0]);
    }
  }

 private:
  std::vector<Loop> loops_;
  int fused_ = 0;
  int64_t shared_ = 1;  // iterations of those that are fused
  bool fuses_ = true;
};

}  // namespace

bool IsTransposition(const Stage& stage, const MachineModel& machine) {
  return TranspositionIn(stage, machine).has_value();
}

void ScheduleTransposition(Stage* stage, const MachineModel& machine) {
  const Transposition t = *TranspositionIn(*stage, machine);
  const std::vector<Expr>& shape = stage->output().shape();
  const auto extent_read = ConstExtent(shape[t.axis]);
  const bool is_known =
      extent_read && (t.anywhere || *extent_read % t.vectors == 0);
  const auto [steps, vector] =
      stage->Split(stage->axis(t.axis), t.vectors,
                   is_known ? Tail::kShiftInwards : Tail::kPartition);
  const LastAxis last = CutLastAxis(stage, t.lanes);
  std::vector<int> axes(shape.size() - 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (SharesRows(*stage)) std::swap(axes[1], axes[2]);
  OuterLoops outer;
  for (const int i : axes) {
    const int64_t extent = LikelyExtent(*stage, i);
    if (i != t.axis) {
      outer.Add(stage->axis(i), extent, true);
      continue;
    }
    if (last.parts) {
      outer.Add(*last.parts, CeilDiv(GuessExtent(shape.back()), kLongest),
                true);
    }
    if (!t.along_read) {
      outer.Add(steps, CeilDiv(extent, t.vectors), is_known);
    }
  }
  outer.Add(last.vectors, 1, false);
  if (t.along_read) outer.Add(steps, 1, false);
  std::vector<Loop> order = outer.loops();
  order.insert(order.end(), {vector, last.lanes});
  stage->Reorder(order);
  stage->Unroll(vector);
  stage->Vectorize(last.lanes);
  outer.Share(stage);
}

}  // namespace ingot::te::cpu
