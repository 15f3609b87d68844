// Convolutions whose elements are sums of bf16 parts, or bytes, by registers of
// tiles: two tiles of positions in a row of the result and two blocks of output
// channels in the inside. The data of a block of rows stays in the second-level
// cache while output channels go by.
#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/tile_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"

namespace ingot::te::cpu {
namespace {

int64_t Steps(const Stage& stage) {
  int64_t steps = 1;
  for (size_t i = 0; i < 3; ++i) {
    steps *= GuessExtent(stage.op().reduce_extent[i]);
  }
  return steps;
}

bool Matches(const ScheduleSite& site) {
  return TagOf(&site.stage, kAnchor) == kConv2dParts &&
         site.machine.Has(MultipliesWords(site.stage)
                              ? MachineUnit::kInt8Tiles
                              : MachineUnit::kBFloat16Tiles) &&
         Steps(site.stage) > 1;
}

ScheduleSpace Space(const ScheduleSite&) {
  ScheduleSpace space;
  space.parameters = {{"row_tiles", {2, 1}},
                      {"blocks", {2, 1}},
                      // The data of a block of rows fills 1 / n of the
                      // second-level cache.
                      {"l2_part", {2, 1, 4}}};
  return space;
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  ScheduleParts(*schedule, *acc, machine);
  const std::vector<Expr>& shape = out->output().shape();  // n, c, y, x, 16
  const int64_t height = GuessExtent(shape[2]), width = GuessExtent(shape[3]);
  const int64_t row_bytes = GuessExtent(acc->op().reduce_extent[0]) * width *
                            NumberOfParts(*acc) * kBytesOfTileRow;
  const int64_t rows = std::max<int64_t>(
      1, machine.l2_bytes / choice.Get("l2_part") / row_bytes);

  std::vector<Loop> order = {out->axis(0)};
  Loop y = out->axis(2);
  std::optional<Loop> row_block;
  if (height > 2 * rows) {
    auto [o, i] = out->Split(y, rows);
    row_block = o;
    y = i;
    order.push_back(o);
  }
  auto [co, ci] = out->Split(out->axis(1), choice.Get("blocks"));
  auto [xo, xi] = out->Split(out->axis(3), choice.Get("row_tiles") * kTile);
  auto [few, x] = out->Split(xi, kRowsOfTail);
  for (Loop loop : {co, y, xo, ci, few, x, out->axis(4)}) order.push_back(loop);
  out->Reorder(order);
  out->Unroll(x);
  out->Vectorize(out->axis(4));

  acc->ComputeAt(out, xo);
  TensorizeTiles(acc, acc->axis(3), acc->axis(1), acc->axis(4));

  if (GuessWork(acc) >= kParallelWork) out->Parallel(row_block.value_or(co));
}

}  // namespace

ScheduleTemplate TileConv() {
  ScheduleTemplate t;
  t.name = "cpu.tile_conv";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
