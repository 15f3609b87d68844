// Convolutions whose channels are not blocked: vectors along the row, several
// output channels at a time. For what the layout pass leaves alone.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
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

// The number of vectors of a row, which `width` elements fill, that are worth
// keeping in registers at once, with so many channels.
int64_t VectorsFor(const MachineModel& machine, int64_t rows, int64_t lanes,
                   int64_t width) {
  int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t vectors = 1; vectors <= kMaxTileVectors; ++vectors) {
    const int64_t filled = vectors * lanes;
    const double used =
        static_cast<double>(width) /
        static_cast<double>((width + filled - 1) / filled * filled);
    // As few accumulators as just hide a multiply-add's latency show each load
    // that is late.
    constexpr int64_t kSpareAccumulators = 12;
    const double waiting = rows * vectors < kSpareAccumulators ? 1.1 : 1;
    const double cycles =
        SpareProductCycles(machine, {rows, vectors}) * waiting / used;
    if (cycles < least) {
      least = cycles;
      best = vectors;
    }
  }
  return best;
}

// A tile whose channels divide those of a group, which then share what they
// read; nothing where such tiles would be too small to hide the latency of a
// multiply-add.
std::optional<RegisterTile> TileOfGroup(const MachineModel& machine,
                                        int64_t of_group, int64_t most,
                                        int64_t lanes, int64_t width) {
  constexpr int64_t kFewAccumulators = 8;
  RegisterTile tile;
  tile.rows = std::min(most, of_group);
  while (of_group % tile.rows != 0) --tile.rows;
  tile.vectors = VectorsFor(machine, tile.rows, lanes, width);
  if (tile.rows * tile.vectors < kFewAccumulators) return std::nullopt;
  return tile;
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
  const int64_t most = std::max<int64_t>(1, std::min(tile.rows, channels));
  int64_t rows = most;
  while (channels % rows != 0) --rows;
  if (rows < tile.rows / 2) rows = most;
  const int64_t of_group = ChannelsOfGroup(site.stage, channels);
  if (of_group < channels) {
    if (const auto grouped =
            TileOfGroup(site.machine, of_group, most, lanes, width)) {
      tile.vectors = grouped->vectors;
      rows = grouped->rows;
    }
  }
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
