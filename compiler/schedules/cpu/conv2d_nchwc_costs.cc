#include "compiler/schedules/cpu/conv2d_nchwc_costs.h"

#include <limits>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::te::cpu {
namespace {

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

// Whether the loops of a choice exist.
bool IsPossible(const BlockedConv2d& p, const MachineModel& machine,
                const ScheduleChoice& choice) {
  const bool rows_outside = choice.Get("rows_outside") != 0;
  const bool copies_padding = choice.Get("copies_padding") != 0;
  if (choice.Get("columns") < p.width &&
      (!rows_outside || (!copies_padding && (p.borders->is_guess ||
                                             p.borders->columns.size() > 1)))) {
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
double ColumnBlockCycles(const BlockedConv2d& p, const MachineModel& machine,
                         int64_t columns) {
  constexpr double kFarPerCycle = 16;
  const int64_t weights = p.WeightBytes(p.blocks);
  if (weights <= machine.l2_bytes / 2) return 0;
  return static_cast<double>(weights * p.height * (p.width / columns)) /
         kFarPerCycle;
}

// Cycles in which whole rows of places read the data of their windows, which
// lie in as many rows and are read again for the next row, from memory.
double WindowCycles(const BlockedConv2d& p, const MachineModel& machine,
                    int64_t oc_blocks) {
  constexpr double kFarPerCycle = 4;
  if (!p.cuts_columns || p.window_rows == 1 ||
      p.RowBytes() <= machine.l2_bytes / 2) {
    return 0;
  }
  return static_cast<double>(p.nests * p.height * p.RowBytes() *
                             CeilDiv(p.group_blocks, oc_blocks)) /
         kFarPerCycle;
}

// Two threads share whole blocks of columns: how much longer the one takes that
// has more of them, compared with an even share.
double IdleThreads(const BlockedConv2d& p, int64_t columns) {
  const int64_t blocks = p.nests * p.height * (p.width / columns);
  return static_cast<double>(blocks + blocks % 2) / static_cast<double>(blocks);
}

// Cycles that one step of the reduction takes for a row whose padding is not
// copied. The narrow tiles of its parts use weights, which come from the
// second-level cache, a few times only.
double BorderedCycles(const BlockedConv2d& p, const MachineModel& machine,
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

}  // namespace

BlockedConv2d::BlockedConv2d(const Stage& acc, const Stage& out,
                             const Stage* pad, const MachineModel& machine) {
  const auto& shape = out.output().shape();
  const auto& reduce = acc.op().reduce_extent;
  lanes = LanesFor(acc, machine);
  block = GuessExtent(shape[4]);
  blocks = GuessExtent(shape[1]);
  vectors_per_block = std::max<int64_t>(1, block / lanes);
  height = GuessExtent(shape[2]);
  width = GuessExtent(shape[3]);
  knows_rows = ConstExtent(shape[2]).has_value();
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

std::vector<int64_t> BlockedConv2d::ColumnBlocks(
    const MachineModel& machine) const {
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

int64_t BlockedConv2d::SumRows(int64_t oc_blocks,
                               const MachineModel& machine) const {
  const int64_t row_bytes = width * oc_blocks * block * element;
  return std::min(machine.l1_bytes / 4 / std::max<int64_t>(1, row_bytes),
                  height);
}

bool BlockedConv2d::PrefersSplitChannels(int64_t oc_blocks,
                                         const MachineModel& machine) const {
  // Windows of several elements use what they load from the data more often
  // and gain by it only where the weights leave the second level, too.
  return SumRows(oc_blocks, machine) >= 2 &&
         WeightBytes(oc_blocks) > (window_rows * window_columns == 1
                                       ? machine.l1_bytes
                                       : machine.l2_bytes / 2);
}

// Cycles of the tiles, and what memory adds where the loops are not in the
// order that reads it least.
double CyclesOf(const BlockedConv2d& p, const MachineModel& machine,
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
    cycles += ColumnBlockCycles(p, machine, columns);
    if (copies_padding) cycles += copying;
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
  cycles += WindowCycles(p, machine, oc_blocks);
  return copies_padding ? cycles + copying : cycles;
}

}  // namespace ingot::te::cpu
