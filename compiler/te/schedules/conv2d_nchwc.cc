// Convolutions over channel blocks: the block is the vector, a stretch of the
// output's row times a few blocks of output channels is the register tile.
#include <algorithm>

#include "compiler/te/schedules/anchor.h"
#include "compiler/te/schedules/common.h"
#include "compiler/te/tags.h"

namespace ingot::te {

void ScheduleConv2dNchwc(Schedule* schedule, Stage* stage,
                         const CpuModel& cpu) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  const auto& shape = out->output().shape();
  const int64_t lanes = LanesFor(acc, cpu);
  const int64_t block = GuessExtent(shape[4]);
  const int64_t vectors_per_block = std::max<int64_t>(1, block / lanes);
  const int64_t blocks = GuessExtent(shape[1]);
  // One image: threads share the output channels alone, so that the loop over
  // them may have a tail. With more images the loops are fused and may not.
  const bool alone = ConstExtent(shape[0]) == std::optional<int64_t>(1) &&
                     blocks >= 24 && vectors_per_block == 1;
  RegisterTile tile =
      ConvTile(cpu, GuessExtent(shape[3]), blocks * vectors_per_block, alone);
  const int64_t oc_tile =
      std::max<int64_t>(1, tile.vectors / vectors_per_block);

  auto [co, ci] = out->Split(out->axis(1), oc_tile);
  auto [wo, wi] = out->Split(out->axis(3), tile.rows);
  auto [bv, bl] = out->Split(out->axis(4), lanes);
  out->Reorder({out->axis(0), co, out->axis(2), wo, ci, wi, bv, bl});
  out->Unroll(ci);
  out->Unroll(wi);
  out->Unroll(bv);
  out->Vectorize(bl);
  const bool parallel = GuessWork(acc) >= kParallelWork;
  if (blocks % oc_tile == 0) {
    FuseParallel(out, 3, parallel);
  } else if (parallel) {
    out->Parallel(co);
  }

  acc->ComputeAt(out, wo);
  auto [av, al] = acc->Split(acc->axis(4), lanes);
  std::vector<Loop> order = {acc->axis(0), acc->axis(2)};
  for (Loop loop : acc->reduce_axes()) order.push_back(loop);
  // Each broadcast element meets all vectors of the step before the next, so
  // that only the vectors and one element are live beside the accumulators.
  for (Loop loop : {acc->axis(3), acc->axis(1), av, al}) order.push_back(loop);
  acc->Reorder(order);
  acc->Unroll(acc->axis(1));
  acc->Unroll(acc->axis(3));
  acc->Unroll(av);
  acc->Vectorize(al);
}

}  // namespace ingot::te
