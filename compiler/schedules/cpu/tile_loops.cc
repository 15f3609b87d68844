#include "compiler/schedules/cpu/tile_loops.h"

#include <algorithm>
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/tags.h"

namespace ingot::te::cpu {

int64_t NumberOfParts(const Stage& acc) {
  for (const Tensor& t : acc.op().inputs) {
    // The weights: [columns/16, steps, parts, pairs, 16, 2].
    if (t.shape().size() == 6 && ConstExtent(t.shape().back()) == 2) {
      return GuessExtent(t.shape()[2]);
    }
  }
  return 1;
}

void ScheduleParts(const Schedule& schedule, const Stage& acc,
                   const MachineModel& machine) {
  for (const Tensor& t : acc.op().inputs) {
    Stage* parts = schedule.Find(t);
    if (parts == nullptr || TagOf(parts, kParts).empty()) continue;
    const int rank = static_cast<int>(parts->axes().size());
    const int cut = SpecializeConditions(parts);
    auto [step, part] = parts->Split(parts->axis(rank - 2), NumberOfParts(acc));
    auto [vector, lane] =
        parts->Split(parts->axis(rank - 1), std::max(machine.lanes(32), 1));
    parts->Reorder({step, vector, part, lane});
    parts->Unroll(part);
    parts->Unroll(vector);
    parts->Vectorize(lane);
    // An axis that is cut cannot be fused.
    FuseParallel(parts, std::min(cut, rank - 2),
                 GuessWork(parts) >= kParallelWork);
  }
}

bool MultipliesWords(const Stage& acc) {
  const auto* call = tir::As<tir::Call>(acc.op().value);
  return call != nullptr && call->intrinsic == tir::Intrinsic::kDot4;
}

void TensorizeTiles(Stage* acc, Loop rows, Loop column_tiles, Loop columns) {
  std::vector<Loop> steps = acc->reduce_axes(), row;
  if (MultipliesWords(*acc) && steps.size() == 1) {
    auto [step, word] = acc->Split(steps[0], kTile);
    steps = {step};
    row = {word};
  } else if (MultipliesWords(*acc)) {
    row = {steps.back()};
    steps.pop_back();
  } else {
    row.assign(steps.end() - 2, steps.end());
    steps.resize(steps.size() - 2);
  }
  std::vector<Loop> order = steps;
  for (Loop loop : {rows, column_tiles, columns}) order.push_back(loop);
  order.insert(order.end(), row.begin(), row.end());
  acc->Reorder(order);
  acc->Vectorize(columns);
  // The outermost that is a loop: one of a single step is none.
  for (size_t i = 0; i < steps.size(); ++i) {
    if (GuessExtent(acc->op().reduce_extent[i]) > 1) {
      acc->Tensorize(steps[i]);
      return;
    }
  }
}

}  // namespace ingot::te::cpu
