// Winograd's algorithm for tiles of which only a run knows how many there are:
// they are taken one after the other, across the ends of rows, so that the
// tiles of registers are whole but for the very last one. The data of a number
// of tiles is transformed into a workspace that stays in the cache; then, for a
// few blocks of output channels after the other, the products at all points are
// made, transformed back and written with what follows.
#include <algorithm>
#include <limits>
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/schedules/cpu/winograd_stages.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::cpu {
namespace {

bool Matches(const ScheduleSite& site) { return IsWinograd(site, 1); }

// Whether a thread keeps the data of so many tiles and their products on its
// stack, so that threads share nothing but weights.
bool StaysOnStack(const WinogradProblem& p, const ScheduleChoice& choice) {
  const int64_t channels = p.input_channels + choice.Get("vectors") * p.lanes;
  return p.points * choice.Get("tiles") * channels * p.element <=
         kMostProductBytes;
}

// Cycles of the products, and of what memory adds to them, for one tile of
// many.
double Cost(const WinogradProblem& p, const MachineModel& machine,
            const ScheduleChoice& choice) {
  const int64_t vectors = choice.Get("vectors");
  const int64_t rows = choice.Get("rows");
  const int64_t tiles = choice.Get("tiles");
  if (rows > tiles ||
      p.points * tiles * vectors * p.lanes * p.element > kMostProductBytes) {
    return std::numeric_limits<double>::infinity();
  }
  const double all = static_cast<double>(p.blocks * p.block);
  const double terms = static_cast<double>(p.points * p.input_channels);
  const double cycles = terms * all / static_cast<double>(p.lanes * vectors) *
                        PlaneCycles(machine, tiles, vectors, {rows, vectors});
  // All weights are read for so many tiles, and their data once for each step
  // over output channels.
  const double weights = terms * all * static_cast<double>(p.element);
  const double data = terms * static_cast<double>(tiles * p.element);
  const double nearby = 32, far = 6;  // bytes a cycle
  const double room = static_cast<double>(machine.l2_bytes) * 0.75;
  const double memory = weights / (weights + data <= room ? nearby : far) +
                        data * all / static_cast<double>(p.lanes * vectors) /
                            (data <= room ? nearby : far);
  constexpr double kShared = 1.5;
  return (cycles + memory) / static_cast<double>(tiles) *
         (StaysOnStack(p, choice) ? 1 : kShared);
}

ScheduleSpace Space(const ScheduleSite& site) {
  const WinogradProblem p(*FindWinogradStages(site.schedule, site.stage),
                          site.machine);
  std::vector<int64_t> rows;
  for (int64_t r = 1; r <= kMaxTileRows; ++r) rows.push_back(r);
  ScheduleSpace space;
  space.parameters = {{"vectors", WinogradVectors(p.blocks, p.block, p.lanes)},
                      {"rows", rows},
                      {"tiles", {8, 10, 12, 16, 24, 36, 48, 60, 72, 96, 144}}};
  space.cost = [p, machine = site.machine](const ScheduleChoice& choice) {
    return Cost(p, machine, choice);
  };
  return space;
}

// The data's two transforms, one tile after the other.
void ScheduleData(const WinogradStages& s, const MachineModel& machine,
                  bool parallel) {
  Stage* const tiles = s.tiles;  // n, i, j, c, tile, block
  auto [tv, tl] = tiles->Split(tiles->axis(5), LanesFor(*tiles, machine));
  tiles->Reorder({tiles->axis(0), tiles->axis(3), tiles->axis(4),
                  tiles->axis(1), tiles->axis(2), tv, tl});
  tiles->Unroll(tiles->axis(2));
  tiles->Unroll(tv);
  tiles->Vectorize(tl);
  if (parallel) tiles->Parallel(tiles->axis(3));

  Stage* const rows = s.rows;  // n, c, tile, i, x, block
  rows->ComputeAt(tiles, tiles->axis(4));
  auto [rv, rl] = rows->Split(rows->axis(5), LanesFor(*rows, machine));
  rows->Reorder({rows->axis(4), rows->axis(3), rv, rl});
  rows->Unroll(rows->axis(3));
  rows->Unroll(rv);
  rows->Vectorize(rl);

  if (s.pad != nullptr) ScheduleElementwise(s.pad, machine);
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  const WinogradStages s = *FindWinogradStages(*schedule, *stage);
  const WinogradProblem p(s, machine);
  const bool parallel = GuessWork(s.products) >= kParallelWork;
  const bool own = StaysOnStack(p, choice);
  const int64_t vectors = choice.Get("vectors");
  const int64_t blocks = std::max<int64_t>(1, vectors * p.lanes / p.block);
  Stage* const out = s.result;  // n, c, y, x, block
  auto [row, yi] = out->Split(out->axis(2), p.tile, Tail::kGuard);
  auto [column, xi] = out->Split(out->axis(3), p.tile, Tail::kGuard);
  auto [co, ci] = out->Split(out->axis(1), blocks);
  auto [v, l] = out->Split(out->axis(4), p.lanes);
  out->Reorder({out->axis(0), row, column, co, ci, yi, xi, v, l});
  auto [chunk, tile] =
      out->Split(out->Fuse(row, column), choice.Get("tiles"), Tail::kShorten);
  out->Reorder({out->axis(0), chunk, co, ci, tile, yi, xi, v, l});
  for (Loop loop : {yi, xi, v}) out->Unroll(loop);
  out->Vectorize(l);
  if (parallel) out->Parallel(own ? chunk : co);

  s.tiles->ComputeAt(out, chunk);
  if (!own) s.tiles->StoreIn(Storage::kBox);
  ScheduleData(s, machine, parallel && !own);
  s.products->ComputeAt(out, co);
  auto [to, ti] = s.products->Split(s.products->axis(4), choice.Get("rows"));
  ScheduleWinogradProducts(s.products, {to}, {ti},
                           {choice.Get("rows"), vectors}, p.lanes, machine);
  s.back->ComputeAt(out, tile);
  ScheduleWinogradBack(s.back, p.lanes);
}

}  // namespace

ScheduleTemplate WinogradList() {
  ScheduleTemplate t;
  t.name = "cpu.winograd_list";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
