#include "compiler/te/schedules/common.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

// Every load is the same or the next element as `var` goes up by one.
bool IsContiguous(const Stage* stage, const tir::Var* var) {
  for (const tir::Load* load : LoadsOf(stage->op().value)) {
    if (AccessStride(*load, var) < 0) return false;
  }
  return true;
}

}  // namespace

void ScheduleReduction(Schedule* schedule, Stage* stage, const CpuModel& cpu) {
  const int rank = static_cast<int>(stage->axes().size());
  const int64_t lanes = LanesFor(stage, cpu);
  const int64_t work = GuessWork(stage) * ValueCost(stage->op().value);
  const bool parallel = work >= kParallelWork && !stage->IsAttached();
  if (rank == 0) return;
  const int64_t row = GuessExtent(stage->output().shape()[rank - 1]);
  const bool vector = lanes > 1 && row > 1 &&
                      IsContiguous(stage, stage->op().axis[rank - 1].get());
  if (!vector) {
    FuseParallel(stage, rank, parallel);
    stage->AccumulateAt(stage->leaves()[0]);
    return;
  }
  auto [outer, inner] = stage->Split(stage->axis(rank - 1), lanes);
  std::vector<Loop> order(stage->axes().begin(), stage->axes().end() - 1);
  order.push_back(outer);
  for (Loop loop : stage->reduce_axes()) order.push_back(loop);
  order.push_back(inner);
  stage->Reorder(order);
  stage->Vectorize(inner);
  stage->AccumulateAt(outer);
  if (rank == 1) {
    if (parallel) stage->Parallel(outer);
  } else {
    FuseParallel(stage, rank - 1, parallel);
  }
}

}  // namespace ingot::te
