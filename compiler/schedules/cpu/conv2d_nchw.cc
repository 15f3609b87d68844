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

// The tile that takes least for a group's channels, which share what they read,
// by a row; nothing where tiles would be too small to hide the latency of a
// multiply-add.
std::optional<RegisterTile> TileOfGroup(const MachineModel& machine,
                                        int64_t of_group, int64_t most,
                                        int64_t vectors_of_row) {
  constexpr int64_t kFewAccumulators = 8;
  // As few accumulators as just hide that latency show each load that is late,
  // and channels that are left over are code of their own.
  constexpr int64_t kSpareAccumulators = 12;
  constexpr double kWaits = 1.1, kRest = 1.02, kPerLoad = 0.05;
  RegisterTile best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t rows = 1; rows <= std::min(most, of_group); ++rows) {
    for (int64_t vectors = 1; vectors <= kMaxTileVectors; ++vectors) {
      const RegisterTile tile = {rows, vectors};
      double cycles = PlaneCycles(machine, of_group, vectors_of_row, tile);
      const auto products = static_cast<double>(rows * vectors);
      cycles *= 1 + kPerLoad * static_cast<double>(rows + vectors) / products;
      if (rows * vectors < kSpareAccumulators) cycles *= kWaits;
      if (of_group % rows != 0) cycles *= kRest;
      if (FillsRegisters(machine, tile)) cycles *= kRest;
      if (cycles >= least) continue;
      least = cycles;
      best = tile;
    }
  }
  if (best.rows * best.vectors < kFewAccumulators) return std::nullopt;
  return best;
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
            TileOfGroup(site.machine, of_group, most, CeilDiv(width, lanes))) {
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

  std::vector<Loop> order = {out->axis(0)};
  Loop of_group = out->axis(1);
  const int64_t each = ChannelsOfGroup(*acc, channels);
  const bool by_groups = each < channels && rows <= each && each % rows != 0;
  if (by_groups) {
    auto [group, inner] = out->Split(of_group, each);
    order.push_back(group);
    of_group = inner;
  }
  auto [co, ci] = out->Split(of_group, rows);
  auto [wo, wi] = out->Split(out->axis(3), choice.Get("vectors") * lanes);
  auto [wv, wl] = out->Split(wi, lanes);
  for (Loop loop : {co, out->axis(2), wo, ci, wv, wl}) order.push_back(loop);
  out->Reorder(order);
  out->Unroll(ci);
  out->Unroll(wv);
  out->Vectorize(wl);
  if (GuessWork(acc) >= kParallelWork) {
    if (by_groups) {
      FuseParallel(out, 2, true);
    } else if (channels % rows == 0) {
      FuseParallel(out, 3, true);
    } else {
      out->Parallel(out->axis(2));
    }
  }

  acc->ComputeAt(out, wo);
  auto [av, al] = acc->Split(acc->axis(3), lanes);
  std::vector<Loop> terms = {acc->axis(0), acc->axis(2)};
  for (Loop loop : acc->reduce_axes()) terms.push_back(loop);
  for (Loop loop : {acc->axis(1), av, al}) terms.push_back(loop);
  acc->Reorder(terms);
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
