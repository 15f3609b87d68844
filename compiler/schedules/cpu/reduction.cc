// A reduction by itself: vectors along the output's last axis where memory
// allows it, the reduction inside of them; or along the elements reduced.
#include <algorithm>
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::cpu {
namespace {

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice&,
           const MachineModel& machine) {
  const int rank = static_cast<int>(stage->axes().size());
  const int64_t lanes = LanesFor(*stage, machine);
  const int64_t work = GuessWork(stage) * ValueCost(stage->op().value);
  const bool parallel = work >= kParallelWork && !stage->IsAttached();
  const auto& shape = stage->output().shape();
  const bool is_one = std::all_of(
      shape.begin(), shape.end(),
      [](const Expr& extent) { return tir::IsConstInt(extent, 1); });
  // In one chain of additions, a sum of many loses digits, too.
  if (is_one && !stage->IsAttached()) {
    ReduceInVectors(schedule, stage, machine);
    return;
  }
  const int64_t row = GuessExtent(stage->output().shape()[rank - 1]);
  const bool vector =
      lanes > 1 && row > 1 &&
      IsNearlyContiguous(stage, stage->op().axis[rank - 1].get());
  if (!vector) {
    const std::vector<Stage*> parts = ReduceInVectors(schedule, stage, machine);
    const Loop each = *FuseParallel(stage, rank, parallel);
    if (parts.empty()) stage->AccumulateAt(each);
    for (Stage* part : parts) part->ComputeAt(stage, each);
    return;
  }
  auto [outer, inner] = stage->Split(stage->axis(rank - 1), kColumnsAtOnce);
  std::vector<Loop> order(stage->axes().begin(), stage->axes().end() - 1);
  order.push_back(outer);
  ReduceRows(stage, order, inner, lanes);
  stage->AccumulateAt(outer);
  if (rank == 1) {
    if (parallel) stage->Parallel(outer);
  } else {
    FuseParallel(stage, rank - 1, parallel);
  }
}

}  // namespace

ScheduleTemplate Reduction() {
  ScheduleTemplate t;
  t.name = "cpu.reduction";
  t.scope = TemplateScope::kStage;
  t.matches = [](const ScheduleSite& site) { return site.stage.IsReduce(); };
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
