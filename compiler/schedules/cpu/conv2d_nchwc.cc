// Convolutions over channel blocks: the block is the vector, a stretch of the
// output's row times a few blocks of output channels is the register tile.
// An image's padding, which takes long to copy beside the products of few
// channels, is not copied: borders have loops of their own.
#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/conv2d_nchwc_costs.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"

namespace ingot::te::cpu {
namespace {

bool Matches(const ScheduleSite& site) {
  return TagOf(&site.stage, kAnchor) == kConv2dNchwc &&
         site.stage.axes().size() == 5;
}

ScheduleSpace Space(const ScheduleSite& site) {
  const MachineModel machine = MachineOfTiles(site.stage, site.machine);
  const Stage* pad = FindPad(site.schedule, site.stage);
  const BlockedConv2d p(site.stage, *ResultOf(site.schedule, site.stage), pad,
                        machine);
  const int64_t all = p.Vectors();
  std::vector<int64_t> vectors, widths;
  for (int64_t v = 1; v <= kMaxTileVectors; ++v) {
    if (v == 1 || (v <= all && (all % v == 0 || p.uneven))) {
      vectors.push_back(v);
    }
  }
  const int64_t most = std::min<int64_t>(p.width, machine.vector_registers);
  for (int64_t w = 1; w == 1 || w <= most; ++w) widths.push_back(w);
  ScheduleSpace space;
  space.parameters = {{"vectors", vectors},
                      {"width", widths},
                      {"rows_outside", {0, 1}},
                      {"split_channels", {0, 1}},
                      {"columns", p.ColumnBlocks(machine)},
                      {"copies_padding", {1}}};
  if (p.borders) {
    space.parameters.back().values.push_back(0);
  }
  space.cost = [p, machine](const ScheduleChoice& choice) {
    return CyclesOf(p, machine, choice);
  };
  return space;
}

// A convolution's two stages and how its loops are to run.
struct Plan {
  BlockedConv2d problem;
  RegisterTile tile;
  int64_t columns;  // of a row, whose data stay in the second-level cache
  int64_t oc_tile;  // blocks of output channels
  bool rows_outside, split_channels, copies_padding;
};

// The loops of the accumulator computed inside of.
struct ResultLoops {
  Loop tile;                         // around one tile
  std::optional<Loop> column_block;  // around columns whose data are kept
  std::optional<Loop> row_block;     // around the rows whose sums are kept
};

// The outermost of the result's loops, which threads share.
struct OuterLoops {
  int fused;  // 0: the loop over channels, by itself
  int64_t iterations;
};

bool HasEvenChannels(const Plan& plan) {
  return plan.problem.group_blocks % plan.oc_tile == 0;
}

// Whether the loop over channels is inside of one over both halves of the rows,
// so that two threads share rows, whose data each has made itself, and not all
// read all of it. The weights are read twice then, for rows enough.
bool HalvesRows(const Plan& plan) {
  constexpr int64_t kRowsEnough = 14;
  const BlockedConv2d& p = plan.problem;
  return p.parallel && p.images == 1 && p.knows_rows && HasEvenChannels(plan) &&
         !plan.rows_outside && !plan.split_channels &&
         plan.columns == p.width && p.height >= kRowsEnough &&
         p.height % 2 == 0;
}

// A loop over channels that has a tail stays apart from the others.
OuterLoops OuterLoopsOf(const Plan& plan) {
  const BlockedConv2d& p = plan.problem;
  const bool even = HasEvenChannels(plan);
  const int64_t channels = CeilDiv(p.group_blocks, plan.oc_tile);
  const int64_t groups = p.blocks / p.group_blocks;
  OuterLoops outer = {groups > 1 ? 2 : 1, p.images * groups};
  const auto add = [&outer](int64_t iterations) {
    ++outer.fused;
    outer.iterations *= iterations;
  };
  if (plan.columns < p.width) {
    add(p.height);
    add(p.width / plan.columns);
    return outer;
  }
  if (!even && !plan.rows_outside) {
    return groups > 1 ? outer : OuterLoops{0, channels};
  }
  if (HalvesRows(plan)) add(2);
  if (even) add(channels);
  if (!plan.split_channels) add(HalvesRows(plan) ? p.height / 2 : p.height);
  return outer;
}

// Whether threads share the tiles of a row instead, as the loops outside of
// them, which run so often, are few and large.
bool SharesTiles(const Plan& plan, int64_t outer) {
  constexpr int64_t kFew = 8;
  const BlockedConv2d& p = plan.problem;
  return p.parallel && !plan.split_channels && outer < kFew &&
         p.work / outer >= kParallelWork &&
         plan.columns / plan.tile.rows > outer;
}

ResultLoops ScheduleResult(Stage* out, const Plan& plan, int64_t sum_rows) {
  // The blocks of a tile are of one group, whose data they share.
  Loop channels = out->axis(1);
  std::vector<Loop> order = {out->axis(0)};
  if (plan.problem.group_blocks < plan.problem.blocks) {
    auto [group, of_group] = out->Split(channels, plan.problem.group_blocks);
    order.push_back(group);
    channels = of_group;
  }
  auto [co, ci] = out->Split(channels, plan.oc_tile);
  Loop columns = out->axis(3);
  std::optional<Loop> column_block;
  if (plan.columns < plan.problem.width) {
    auto [o, i] = out->Split(columns, plan.columns);
    column_block = o;
    columns = i;
  }
  auto [wo, wi] = out->Split(columns, plan.tile.rows);
  auto [bv, bl] = out->Split(out->axis(4), plan.problem.lanes);
  Loop row = out->axis(2);
  std::optional<Loop> row_block;
  if (plan.split_channels) {
    auto [o, i] = out->Split(row, sum_rows);
    row_block = o;
    row = i;
  }
  if (HalvesRows(plan)) {
    auto [half, of_half] =
        out->Split(row, plan.problem.height / 2, Tail::kExact);
    order.push_back(half);
    row = of_half;
  }
  const OuterLoops outer = OuterLoopsOf(plan);
  if (plan.rows_outside) {
    const bool columns_first =
        column_block.has_value() && plan.problem.TakesColumnsFirst();
    if (columns_first) order.push_back(*column_block);
    order.push_back(row);
    if (column_block && !columns_first) order.push_back(*column_block);
    order.push_back(co);
  } else {
    // Where nothing is fused, the loop over channels is outside of images.
    order.insert(outer.fused == 0 ? order.begin() : order.end(), co);
    if (row_block) order.push_back(*row_block);
    order.push_back(row);
  }
  for (Loop loop : {wo, ci, wi, bv, bl}) order.push_back(loop);
  out->Reorder(order);
  out->Unroll(ci);
  out->Unroll(wi);
  out->Unroll(bv);
  out->Vectorize(bl);
  const bool by_tiles = SharesTiles(plan, outer.iterations);
  const bool by_outer = plan.problem.parallel && !by_tiles;
  if (by_tiles) out->Parallel(wo);
  if (outer.fused > 0) {
    const auto fused = FuseParallel(out, outer.fused, by_outer);
    if (column_block) column_block = fused;
  } else if (by_outer) {
    out->Parallel(co);
  }
  return {wo, column_block, row_block};
}

// The innermost of the first `count` reduce loops that is one: over a window's
// columns, rows or, where it has a single element, `channels`.
Loop InnermostReduceLoop(const Stage& acc, size_t count, Loop channels) {
  for (size_t i = count; i-- > 1;) {
    if (GuessExtent(acc.op().reduce_extent[i]) > 1) return acc.reduce_axis(i);
  }
  return channels;
}

// Each broadcast element meets all vectors of the step before the next, so that
// only the vectors and one element are live beside the accumulators.
void ScheduleAccumulator(Stage* acc, Stage* out, const Plan& plan,
                         const ResultLoops& loops,
                         const MachineModel& machine) {
  auto [av, al] = acc->Split(acc->axis(4), plan.problem.lanes);
  std::vector<Loop> order = {acc->axis(0)};
  Loop inner_channels = acc->reduce_axis(0);
  Loop columns = acc->axis(3);
  if (plan.split_channels) {
    acc->ComputeAt(out, *loops.row_block);
    const int64_t per_channel =
        plan.problem.WeightBytes(plan.oc_tile) / plan.problem.input_channels;
    const int64_t channels =
        std::max<int64_t>(1, machine.l1_bytes / 2 / per_channel);
    auto [ko, ki] = acc->Split(acc->reduce_axis(0), channels);
    inner_channels = ki;
    auto [ao, ai] = acc->Split(columns, plan.tile.rows);
    for (Loop loop : {ko, acc->axis(2), ao, ki}) order.push_back(loop);
    order.insert(order.end(), acc->reduce_axes().begin() + 1,
                 acc->reduce_axes().end());
    for (Loop loop : {ai, acc->axis(1), av, al}) order.push_back(loop);
    acc->AccumulateAt(ao);
    columns = ai;
  } else {
    acc->ComputeAt(out, loops.tile);
    order.push_back(acc->axis(2));
    for (Loop loop : acc->reduce_axes()) order.push_back(loop);
    for (Loop loop : {columns, acc->axis(1), av, al}) order.push_back(loop);
  }
  acc->Reorder(order);
  acc->Unroll(columns);
  const size_t count = acc->reduce_axes().size();
  const bool unrolls =
      count == 4 && acc->output().dtype().is_float() &&
      IsWorthWritingOut(machine, plan.tile,
                        GuessExtent(acc->op().reduce_extent[3]));
  if (unrolls) acc->Unroll(acc->reduce_axis(count - 1));
  PrefetchWeights(
      acc,
      InnermostReduceLoop(*acc, unrolls ? count - 1 : count, inner_channels),
      machine, /*in_turns=*/!plan.rows_outside);
  acc->Unroll(acc->axis(1));
  acc->Unroll(av);
  acc->Vectorize(al);
  if (plan.copies_padding) return;
  if (plan.problem.borders->is_guess) {
    acc->SkipZeros(columns);
  } else {
    acc->SkipZeros();
  }
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  Stage* const pad = FindPad(*schedule, *acc);
  Plan plan = {BlockedConv2d(*acc, *out, pad, machine),
               {choice.Get("width"), choice.Get("vectors")},
               choice.Get("columns"),
               0,
               choice.Get("rows_outside") != 0,
               choice.Get("split_channels") != 0,
               choice.Get("copies_padding") != 0};
  plan.oc_tile = plan.problem.BlocksOf(plan.tile.vectors);
  if (!plan.copies_padding) {
    const auto cuts = plan.problem.borders->Cuts(plan.tile.rows);
    if (!cuts.empty()) out->Specialize(out->axis(3), cuts);
    pad->ComputeInline();
  }
  const ResultLoops loops =
      ScheduleResult(out, plan, plan.problem.SumRows(plan.oc_tile, machine));
  ScheduleAccumulator(acc, out, plan, loops, machine);
  if (loops.column_block && pad != nullptr && plan.copies_padding) {
    // The padded data of a block lie side by side, and stay in the cache.
    pad->ComputeAt(out, *loops.column_block);
    auto [v, l] = pad->Split(pad->axis(4), plan.problem.lanes);
    pad->Unroll(v);
    pad->Vectorize(l);
  }
}

}  // namespace

ScheduleTemplate Conv2dNchwc() {
  ScheduleTemplate t;
  t.name = "cpu.conv2d_nchwc";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
