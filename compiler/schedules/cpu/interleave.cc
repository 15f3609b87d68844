// Results that interleave, as those of depth_to_space do: along some axes each
// position takes turns with the next ones in where it reads. Those that take
// turns are written out one by one, so that each reads along a line without
// dividing its index.
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/conditions.h"
#include "compiler/te/schedule_template.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

// More than this would be more code than it saves time.
constexpr int64_t kMostTurns = 16;

// The largest n such that the value divides the axis, plus a constant, by n; 1
// where it does not.
class TurnFinder final : public tir::ExprVisitor {
 public:
  explicit TurnFinder(const tir::Var* axis) : axis_(axis) {}
  int64_t turns = 1;

 protected:
  void VisitBinary(const tir::Binary& node) override {
    tir::ExprVisitor::VisitBinary(node);
    int64_t divisor;
    if ((node.op != tir::BinaryOp::kFloorDiv &&
         node.op != tir::BinaryOp::kFloorMod) ||
        node.dtype != DataType::Int(64) || !tir::AsConstInt(node.b, &divisor) ||
        divisor <= turns) {
      return;
    }
    const tir::Affine index = tir::ToAffine(node.a);
    if (index.terms.size() == 1 && index.CoefficientOf(axis_) == 1) {
      turns = divisor;
    }
  }

 private:
  const tir::Var* axis_;
};

// The number of positions along each axis that take turns; nothing where none
// do, or not evenly.
std::vector<int64_t> TurnsOf(const Stage& stage) {
  std::vector<int64_t> turns(stage.axes().size(), 1);
  int64_t all = 1;
  for (size_t i = 0; i < turns.size(); ++i) {
    if (!ConditionCuts(stage.op(), static_cast<int>(i),
                       tir::Bounds::Dimensions())
             .empty()) {
      return {};
    }
    TurnFinder finder(stage.op().axis[i].get());
    finder.Visit(stage.op().value);
    const tir::Affine extent = tir::ToAffine(stage.output().shape()[i]);
    if (finder.turns > kMostTurns || !extent.IsMultipleOf(finder.turns)) {
      continue;
    }
    turns[i] = finder.turns;
    all *= finder.turns;
  }
  if (all == 1 || all > kMostTurns) return {};
  return turns;
}

bool Matches(const ScheduleSite& site) {
  return site.stage.op().kind == OperationKind::kCompute &&
         !TurnsOf(site.stage).empty();
}

void Build(Schedule*, Stage* stage, const ScheduleChoice&,
           const MachineModel& machine) {
  const std::vector<int64_t> turns = TurnsOf(*stage);
  const int rank = static_cast<int>(turns.size());
  const int64_t work = GuessWork(stage) * ValueCost(stage->op().value);
  // The loops up to the first one whose positions take turns share the work.
  int shared = 0;
  bool taken = false;
  for (int i = 0; i < rank; ++i) {
    if (!taken && i + 1 < rank) ++shared;
    if (turns[i] == 1) continue;
    taken = true;
    stage->Unroll(stage->Split(stage->axis(i), turns[i], Tail::kExact).second);
  }
  // Turns along the last axis are interleaved by the code generator, which
  // makes vectors of them.
  const int64_t lanes = LanesFor(*stage, machine);
  if (turns.back() == 1 && lanes > 1 &&
      GuessExtent(stage->output().shape().back()) > 1) {
    stage->Vectorize(stage->Split(stage->axes().back(), lanes).second);
  }
  const bool parallel = work >= kParallelWork && !stage->IsAttached();
  if (parallel && shared == 3 && SharesRows(*stage)) {
    const Loop channels = stage->leaves()[1], rows = stage->leaves()[2];
    stage->Reorder({rows, channels});
    shared = 2;
  }
  FuseParallel(stage, shared, parallel);
}

}  // namespace

ScheduleTemplate Interleave() {
  ScheduleTemplate t;
  t.name = "cpu.interleave";
  t.scope = TemplateScope::kStage;
  t.matches = Matches;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
