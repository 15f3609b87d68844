// Convolutions whose channels are not blocked: vectors along the row, several
// output channels at a time. For what the layout pass leaves alone.
#include <algorithm>
#include <vector>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"

namespace ingot::te::cpu {
namespace {

// The values up to `most`, `preferred` first.
std::vector<int64_t> PreferredFirst(int64_t preferred, int64_t most) {
  std::vector<int64_t> values = {preferred};
  for (int64_t v = 1; v <= most; ++v) {
    if (v != preferred) values.push_back(v);
  }
  return values;
}

ScheduleSpace Space(const ScheduleSite& site) {
  const auto& shape = ResultOf(site.schedule, site.stage)->output().shape();
  const int64_t lanes = LanesFor(site.stage, site.machine);
  const int64_t channels = GuessExtent(shape[1]);
  const int64_t width = GuessExtent(shape[3]);
  RegisterTile tile = ProductTile(site.machine);
  while (tile.vectors > 1 && (tile.vectors - 1) * lanes >= width) {
    --tile.vectors;
  }
  // A divisor, so that a tile stays inside of one group where groups are even.
  const int64_t most = std::max<int64_t>(1, std::min(tile.rows, channels));
  int64_t rows = most;
  while (channels % rows != 0) --rows;
  if (rows < tile.rows / 2) rows = most;
  return {{{"channels", PreferredFirst(rows, most)},
           {"vectors", PreferredFirst(tile.vectors, kMaxTileVectors)}},
          nullptr};
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  const int64_t lanes = LanesFor(*acc, machine);
  const int64_t channels = GuessExtent(out->output().shape()[1]);
  const int64_t rows = choice.Get("channels");

  auto [co, ci] = out->Split(out->axis(1), rows);
  auto [wo, wi] = out->Split(out->axis(3), choice.Get("vectors") * lanes);
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

}  // namespace

ScheduleTemplate Conv2dNchw() {
  ScheduleTemplate t;
  t.name = "cpu.conv2d_nchw";
  t.matches = [](const ScheduleSite& site) {
    return TagOf(&site.stage, kAnchor) == kConv2dNchw &&
           site.stage.axes().size() == 4;
  };
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
