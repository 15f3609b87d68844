#include "compiler/te/schedules/common.h"

namespace ingot::te {

void ScheduleElementwise(Stage* stage, const CpuModel& cpu) {
  const int rank = static_cast<int>(stage->axes().size());
  if (rank == 0) return;
  const int64_t lanes = LanesFor(stage, cpu);
  const auto& shape = stage->output().shape();
  const int64_t work = GuessWork(stage) * ValueCost(stage->op().value);
  const bool parallel = work >= kParallelWork && !stage->IsAttached();
  Loop last = stage->axis(rank - 1);
  const int64_t row = GuessExtent(shape[rank - 1]);
  const int64_t rows = OutputElements(stage) / std::max<int64_t>(row, 1);
  if (lanes > 1 && row > 1) {
    auto [outer, inner] = stage->Split(last, lanes);
    stage->Vectorize(inner);
    // Few long rows: threads share each row instead.
    if (parallel && rows < 8) {
      stage->Parallel(outer);
      return;
    }
  } else if (parallel && rows < 8) {
    stage->Parallel(last);
    return;
  }
  FuseParallel(stage, rank - 1, parallel);
}

}  // namespace ingot::te
