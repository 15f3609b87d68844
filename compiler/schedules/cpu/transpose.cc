// Results of transpositions: one goes along the last axis in steps of what is
// read, and along another axis from neighbour to neighbour. Blocks of both axes
// use whole lines of memory on both sides, and are written out as vectors along
// the last axis, one for each position along the other, which the code
// generator makes from vectors along the other.
#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/conditions.h"
#include "compiler/te/schedule_template.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

// A cache line, and how many vectors are written out.
constexpr int64_t kLineBytes = 64, kMostVectors = 32;

struct Transposition {
  int64_t vectors;  // of a block, along `axis`
  int64_t lanes;
  int axis;  // the one along which neighbours are read
  // Bytes from one place of the last axis to the next in what is read, and from
  // one place of `axis` to the next in what is written.
  int64_t read_step, written_step;
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

// Whether the load reads neighbours in runs of so many places of the axis.
bool ReadsRuns(const tir::Load& load, const tir::VarPtr& axis, int64_t run) {
  const tir::VarPtr outer = tir::MakeVar("outer"),
                    inner = tir::MakeVar("inner");
  tir::Bounds bounds = tir::Bounds::Dimensions();
  bounds.Set(inner.get(), 0, run - 1);
  std::vector<Expr> indices;
  for (const Expr& index : load.indices) {
    indices.push_back(tir::Simplify(
        tir::Substitute(index, {{axis.get(), Expr(outer) * run + inner}}),
        &bounds));
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
  for (int64_t n = std::min(kLineBytes / Bytes(load.dtype), kMostVectors);
       n >= 2; n /= 2) {
    if (everywhere) {
      if (!known) return n;
      if (*known >= n && CeilDiv(*known, n) * n - *known <= *known / 4)
        return n;
    } else if (tir::ToAffine(extent).IsMultipleOf(n) &&
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
      return Transposition{
          vectors, lanes, static_cast<int>(i), *step * Bytes(load->dtype),
          GuessStride(shape, i) * Bytes(stage.output().dtype())};
    }
  }
  return std::nullopt;
}

void Build(Schedule*, Stage* stage, const ScheduleChoice&,
           const MachineModel& machine) {
  const Transposition t = *TranspositionIn(*stage, machine);
  const std::vector<Expr>& shape = stage->output().shape();
  const auto tail_of = [&shape](int axis) {
    return ConstExtent(shape[axis]) ? Tail::kShiftInwards : Tail::kPartition;
  };
  const int last = static_cast<int>(shape.size()) - 1;
  const auto [vectors, vector] =
      stage->Split(stage->axis(t.axis), t.vectors, tail_of(t.axis));
  const auto [runs, lane] =
      stage->Split(stage->axis(last), t.lanes, tail_of(last));
  // The innermost loop goes along the lines of the side whose lines are the
  // farthest apart, so that it uses few pages at a time.
  const bool along_read = t.read_step > t.written_step;
  std::vector<Loop> order;
  std::vector<int64_t> extents;
  for (int i = 0; i < last; ++i) {
    if (i == t.axis && along_read) continue;
    order.push_back(i == t.axis ? vectors : stage->axis(i));
    extents.push_back(i == t.axis ? CeilDiv(GuessExtent(shape[i]), t.vectors)
                                  : GuessExtent(shape[i]));
  }
  order.push_back(runs);
  if (along_read) order.push_back(vectors);
  order.insert(order.end(), {vector, lane});
  stage->Reorder(order);
  stage->Unroll(vector);
  stage->Vectorize(lane);
  // A loop with a tail of its own is fused with no other.
  const bool parallel =
      !stage->IsAttached() &&
      GuessWork(stage) * ValueCost(stage->op().value) >= kParallelWork;
  const int outer = static_cast<int>(extents.size());
  int fused = 0;
  while (fused < outer &&
         !(order[fused] == vectors && !ConstExtent(shape[t.axis]))) {
    ++fused;
  }
  if (fused > 0) {
    FuseParallel(stage, fused, parallel);
  } else if (parallel) {
    stage->Parallel(order[0]);
  }
}

}  // namespace

ScheduleTemplate Transpose() {
  ScheduleTemplate t;
  t.name = "cpu.transpose";
  t.scope = TemplateScope::kStage;
  t.matches = [](const ScheduleSite& site) {
    return TranspositionIn(site.stage, site.machine).has_value();
  };
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
