// Convolutions whose channels are not blocked: vectors along the row, several
// output channels at a time. For what the layout pass leaves alone.
#include <algorithm>

#include "compiler/te/schedules/anchor.h"
#include "compiler/te/schedules/common.h"

namespace ingot::te {

void ScheduleConv2dNchw(Schedule* schedule, Stage* stage, const CpuModel& cpu) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  const auto& shape = out->output().shape();
  const int64_t lanes = LanesFor(acc, cpu);
  const int64_t channels = GuessExtent(shape[1]);
  const int64_t width = GuessExtent(shape[3]);
  RegisterTile tile = MatmulTile(cpu);
  while (tile.vectors > 1 && (tile.vectors - 1) * lanes >= width) {
    --tile.vectors;
  }
  // A divisor, so that a tile stays inside of one group where groups are even.
  int64_t rows = std::min(tile.rows, channels);
  while (channels % rows != 0) --rows;
  if (rows < tile.rows / 2) rows = std::min(tile.rows, channels);

  auto [co, ci] = out->Split(out->axis(1), rows);
  auto [wo, wi] = out->Split(out->axis(3), tile.vectors * lanes);
  auto [wv, wl] = out->Split(wi, lanes);
  out->Reorder({out->axis(0), co, out->axis(2), wo, ci, wv, wl});
  out->Unroll(ci);
  out->Unroll(wv);
  out->Vectorize(wl);
  if (GuessWork(acc) >= kParallelWork) {
    if (channels % rows == 0) {
      FuseParallel(out, 3, true);
    } else {
      out->Parallel(out->axis(2));
    }
  }

  acc->ComputeAt(out, wo);
  auto [av, al] = acc->Split(acc->axis(3), lanes);
  std::vector<Loop> order = {acc->axis(0), acc->axis(2)};
  for (Loop loop : acc->reduce_axes()) order.push_back(loop);
  for (Loop loop : {acc->axis(1), av, al}) order.push_back(loop);
  acc->Reorder(order);
  acc->Unroll(acc->axis(1));
  acc->Unroll(av);
  acc->Vectorize(al);
}

}  // namespace ingot::te
