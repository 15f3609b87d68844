// Convolutions over channel blocks: the block is the vector, a stretch of the
// output's row times a few blocks of output channels is the register tile.
// An image's padding, which takes long to copy beside the products of few
// channels, is not copied: borders have loops of their own.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/borders.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

bool Matches(const ScheduleSite& site) {
  return TagOf(&site.stage, kAnchor) == kConv2dNchwc &&
         site.stage.axes().size() == 5;
}

// Nothing where padding must be a copy.
std::optional<Borders> BordersOf(const Stage& acc, const Stage* pad) {
  if (pad == nullptr) return std::nullopt;
  const auto rows = WindowParts(acc, *pad, 2);
  const auto columns = WindowParts(acc, *pad, 3);
  if (!rows || !columns || rows->empty() || columns->empty()) {
    return std::nullopt;
  }
  Borders borders = {*rows, *columns, std::nullopt};
  borders.is_guess = !ConstExtent(acc.output().shape()[3]).has_value();
  const bool has_steps_of_one = acc.reduce_axes().size() == 3;
  // Each part of the columns is code of its own.
  constexpr size_t kMostParts = 5;
  if (borders.is_guess) {
    if (has_steps_of_one) return std::nullopt;
  } else if (has_steps_of_one) {
    borders.interior = InteriorOf(acc, *pad, 3);
  } else if (columns->size() > kMostParts) {
    return std::nullopt;
  }
  return borders;
}

// Returns the operand that all channels of a block read; the other one is the
// weights.
const tir::Load* DataOf(const Stage& acc) {
  for (const tir::Load* load : LoadsOf(acc.op().value)) {
    if (!DependsOn(*load, acc.op().axis.back().get())) return load;
  }
  return nullptr;
}

// The sizes of one convolution that the order of its loops depends on.
struct Problem {
  // Without `pad` no padding need be copied.
  Problem(const Stage& acc, const Stage& out, const Stage* pad,
          const MachineModel& machine);

  // Blocks of output channels in a tile of so many vectors.
  int64_t BlocksOf(int64_t vectors) const {
    return std::max<int64_t>(1, vectors / vectors_per_block);
  }
  // Vectors of output channels that read the same data.
  int64_t Vectors() const { return group_blocks * vectors_per_block; }
  // Bytes of the weights of so many blocks of output channels.
  int64_t WeightBytes(int64_t oc_blocks) const {
    return terms * oc_blocks * block * element;
  }
  // Bytes of the data that a row's places read, where no two read the same.
  int64_t RowBytes() const { return width * terms * element; }
  // Blocks of a row's columns worth trying: the whole row first.
  std::vector<int64_t> ColumnBlocks(const MachineModel& machine) const;
  // Rows of a tile's sums that stay in the first-level cache beside the rest.
  int64_t SumRows(int64_t oc_blocks, const MachineModel& machine) const;

  // Weights that stay in the second-level cache: rows outside, so that each
  // row of data is read from memory once. Otherwise channels outside, so that
  // each weight is; and where there is one row, so that threads can share the
  // channels.
  bool PrefersRowsOutside(const MachineModel& machine) const {
    return height > 1 && WeightBytes(blocks) <= machine.l2_bytes / 2;
  }
  // A tile's weights that do not stay in the first-level cache are used for
  // several rows, a part of the input channels at a time; the sums wait in a
  // small array meanwhile.
  bool PrefersSplitChannels(int64_t oc_blocks,
                            const MachineModel& machine) const;

  int64_t lanes, block, blocks, vectors_per_block;
  int64_t group_blocks;    // that read the same data; all without groups
  int64_t height, width;   // of the output
  int64_t terms;           // of one output element
  int64_t input_channels;  // iterations of the outermost reduce loop
  int64_t window_rows, window_columns;
  std::optional<Borders> borders;
  // Each of a row's columns reads one of the data, its own.
  bool cuts_columns;
  int64_t element;  // bytes
  int64_t padded_bytes = 0;
  int64_t images;  // 1 where only a run knows
  int64_t nests;   // images, times groups
  int64_t work;    // of all tiles, in products
  bool parallel;
  // Threads share the output channels, or the groups, alone, so that the loop
  // over channels may have a tail.
  bool uneven;
};

Problem::Problem(const Stage& acc, const Stage& out, const Stage* pad,
                 const MachineModel& machine) {
  const auto& shape = out.output().shape();
  const auto& reduce = acc.op().reduce_extent;
  lanes = LanesFor(acc, machine);
  block = GuessExtent(shape[4]);
  blocks = GuessExtent(shape[1]);
  vectors_per_block = std::max<int64_t>(1, block / lanes);
  height = GuessExtent(shape[2]);
  width = GuessExtent(shape[3]);
  terms = 1;
  for (const Expr& extent : reduce) terms *= GuessExtent(extent);
  input_channels = std::max<int64_t>(1, GuessExtent(reduce[0]));
  window_rows = GuessExtent(reduce[1]);
  window_columns = GuessExtent(reduce[2]);
  borders = BordersOf(acc, pad);
  const tir::Load* data = DataOf(acc);
  cuts_columns =
      data != nullptr && ConstExtent(shape[3]).has_value() &&
      GuessExtent(reduce[2]) == 1 &&
      tir::ToAffine(data->indices[3]).CoefficientOf(acc.op().axis[3].get()) ==
          1;
  element = acc.output().dtype().bytes();
  group_blocks = ChannelsOfGroup(acc, blocks * block) / block;
  if (group_blocks == 0 || blocks % group_blocks != 0) group_blocks = blocks;
  nests = GuessExtent(shape[0]) * (blocks / group_blocks);
  images = ConstExtent(shape[0]).value_or(1);
  work = GuessWork(&acc);
  parallel = work >= kParallelWork;
  constexpr int64_t kManyBlocks = 24, kManyOfGroup = 8;
  uneven = vectors_per_block == 1 &&
           group_blocks >= (group_blocks < blocks ? kManyOfGroup : kManyBlocks);
  if (pad != nullptr) {
    padded_bytes = OutputElements(pad) * pad->output().dtype().bytes();
    // As the products are, of one image where only a run knows how many.
    if (!ConstExtent(shape[0])) padded_bytes /= GuessExtent(shape[0]);
  }
}

std::vector<int64_t> Problem::ColumnBlocks(const MachineModel& machine) const {
  std::vector<int64_t> columns = {width};
  if (!cuts_columns || RowBytes() <= machine.l2_bytes / 2) return columns;
  // A thread keeps the data of a block on its stack, where they are padded.
  constexpr int64_t kFewest = 24, kMostBytes = 160 << 10;
  const int64_t most_bytes = std::min(kMostBytes, machine.l2_bytes / 4);
  for (int64_t b = width / 2; b >= kFewest; --b) {
    if (width % b == 0 && RowBytes() / width * b <= most_bytes) {
      columns.push_back(b);
    }
  }
  return columns;
}

int64_t Problem::SumRows(int64_t oc_blocks, const MachineModel& machine) const {
  const int64_t row_bytes = width * oc_blocks * block * element;
  return std::min(machine.l1_bytes / 4 / std::max<int64_t>(1, row_bytes),
                  height);
}

bool Problem::PrefersSplitChannels(int64_t oc_blocks,
                                   const MachineModel& machine) const {
  // Windows of several elements use what they load from the data more often
  // and gain by it only where the weights leave the second level, too.
  return SumRows(oc_blocks, machine) >= 2 &&
         WeightBytes(oc_blocks) > (window_rows * window_columns == 1
                                       ? machine.l1_bytes
                                       : machine.l2_bytes / 2);
}

// Whether the loops of a choice exist.
bool IsPossible(const Problem& p, const MachineModel& machine,
                const ScheduleChoice& choice) {
  const bool rows_outside = choice.Get("rows_outside") != 0;
  const bool copies_padding = choice.Get("copies_padding") != 0;
  if (choice.Get("columns") < p.width && (!rows_outside || !copies_padding)) {
    return false;
  }
  return choice.Get("split_channels") == 0 ||
         (!rows_outside && (copies_padding || p.borders->is_guess) &&
          p.SumRows(p.BlocksOf(choice.Get("vectors")), machine) >= 1);
}

// A copy is written and read once more.
constexpr double kCopiedPerCycle = 4;

// Cycles that blocks of columns take beside their tiles: weights that do not
// stay in the second-level cache are read for each.
double ColumnBlockCycles(const Problem& p, const MachineModel& machine,
                         int64_t columns) {
  constexpr double kFarPerCycle = 16;
  const int64_t weights = p.WeightBytes(p.blocks);
  if (weights <= machine.l2_bytes / 2) return 0;
  return static_cast<double>(weights * p.height * (p.width / columns)) /
         kFarPerCycle;
}

// Two threads share whole blocks of columns: how much longer the one takes that
// has more of them, compared with an even share.
double IdleThreads(const Problem& p, int64_t columns) {
  const int64_t blocks = p.nests * p.height * (p.width / columns);
  return static_cast<double>(blocks + blocks % 2) / static_cast<double>(blocks);
}

// Cycles that one step of the reduction takes for a row whose padding is not
// copied. The narrow tiles of its parts use weights, which come from the
// second-level cache, a few times only.
double BorderedCycles(const Problem& p, const MachineModel& machine,
                      RegisterTile tile) {
  const double rows = TapsUsed(p.borders->rows, p.window_rows);
  if (p.borders->is_guess) {
    // Each tile asks for each of its taps.
    constexpr double kAsks = 1.06;
    return PlaneCycles(machine, p.width, p.Vectors(), tile) * rows *
           TapsUsed(p.borders->columns, p.window_columns) * kAsks;
  }
  // Tiles at borders are slower than those of the interior, and code.
  constexpr double kBorders = 1.05;
  if (p.borders->interior) {
    return PlaneCycles(machine, p.width, p.Vectors(), tile) * rows * kBorders;
  }
  constexpr double kNearPerCycle = 16;
  const double load_cycles =
      static_cast<double>(p.lanes * p.element) / kNearPerCycle;
  double cycles = 0;
  for (const WindowPart& part : p.borders->columns) {
    cycles += PlaneCycles(machine, part.end - part.begin, p.Vectors(), tile,
                          load_cycles) *
              static_cast<double>(part.taps);
  }
  return cycles * rows / static_cast<double>(p.window_columns);
}

// Cycles of the tiles, and what memory adds where the loops are not in the
// order that reads it least.
double Cost(const Problem& p, const MachineModel& machine,
            const ScheduleChoice& choice) {
  if (!IsPossible(p, machine, choice)) {
    return std::numeric_limits<double>::infinity();
  }
  const RegisterTile tile = {choice.Get("width"), choice.Get("vectors")};
  const int64_t oc_blocks = p.BlocksOf(tile.vectors);
  const int64_t columns = choice.Get("columns");
  const bool copies_padding = choice.Get("copies_padding") != 0;
  double cycles = copies_padding
                      ? PlaneCycles(machine, columns, p.Vectors(), tile) *
                            static_cast<double>(p.width / columns)
                      : BorderedCycles(p, machine, tile);
  cycles *=
      static_cast<double>((p.blocks / p.group_blocks) * p.height * p.terms);
  // More than a tile can gain: the order that reads memory least comes first.
  constexpr double kReadsAgain = 1.5;
  const double copying = static_cast<double>(p.padded_bytes) / kCopiedPerCycle;
  if (columns < p.width) {
    cycles += copying + ColumnBlockCycles(p, machine, columns);
    return cycles * (p.parallel ? IdleThreads(p, columns) : 1);
  }
  constexpr int64_t kManyTimes = 3;
  const bool rows_outside = choice.Get("rows_outside") != 0;
  if (rows_outside != p.PrefersRowsOutside(machine)) cycles *= kReadsAgain;
  if ((choice.Get("split_channels") != 0) !=
      (!rows_outside && p.PrefersSplitChannels(oc_blocks, machine))) {
    cycles *= kReadsAgain;
  }
  if (p.RowBytes() > machine.l2_bytes / 2 &&
      p.group_blocks >= kManyTimes * oc_blocks) {
    cycles *= kReadsAgain;
  }
  return copies_padding ? cycles + copying : cycles;
}

ScheduleSpace Space(const ScheduleSite& site) {
  const MachineModel machine = MachineOfTiles(site.stage, site.machine);
  const Stage* pad = FindPad(site.schedule, site.stage);
  const Problem p(site.stage, *ResultOf(site.schedule, site.stage), pad,
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
    return Cost(p, machine, choice);
  };
  return space;
}

// A convolution's two stages and how its loops are to run.
struct Plan {
  Problem problem;
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

// A loop over channels that has a tail stays apart from the others.
OuterLoops OuterLoopsOf(const Plan& plan) {
  const Problem& p = plan.problem;
  const bool even = p.group_blocks % plan.oc_tile == 0;
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
  if (even) add(channels);
  if (!plan.split_channels) add(p.height);
  return outer;
}

// Whether threads share the tiles of a row instead, as the loops outside of
// them, which run so often, are few and large.
bool SharesTiles(const Plan& plan, int64_t outer) {
  constexpr int64_t kFew = 8;
  const Problem& p = plan.problem;
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
  const OuterLoops outer = OuterLoopsOf(plan);
  if (plan.rows_outside) {
    order.push_back(row);
    if (column_block) order.push_back(*column_block);
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
      machine);
  acc->Unroll(acc->axis(1));
  acc->Unroll(av);
  acc->Vectorize(al);
  if (!plan.copies_padding) {
    plan.problem.borders->is_guess ? acc->SkipZeros(columns) : acc->SkipZeros();
  }
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  Stage* const pad = FindPad(*schedule, *acc);
  Plan plan = {Problem(*acc, *out, pad, machine),
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
  if (loops.column_block && pad != nullptr) {
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
