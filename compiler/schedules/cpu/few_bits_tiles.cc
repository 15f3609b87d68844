// Products of many rows with matrices of few bits, by tiles of bytes: numbers
// are unpacked once for all rows; the sums of a group of them, for 16 rows and
// 16 columns, leave the tiles for a place on the stack, from where they are
// scaled and added to sums that stay in registers.
#include <algorithm>
#include <cstdint>
#include <limits>
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

// The loop in which numbers are unpacked.
enum Unpack { kOncePerPanel, kOncePerTile };

// The stage that adds up the groups; null where it has other work as well.
Stage* SumOf(const Schedule& schedule, const Stage& dots) {
  const std::vector<Stage*> readers = schedule.Readers(&dots);
  const bool fits = !dots.is_output() && readers.size() == 1 &&
                    readers[0]->IsUntouched() && readers[0]->IsReduce() &&
                    readers[0]->axes().size() + 1 == dots.axes().size() &&
                    readers[0]->reduce_axes().size() == 1;
  return fits ? readers[0] : nullptr;
}

// The words of a group, which are a tile's depth; 0 where they are not.
int64_t Depth(const Stage& dots) {
  const auto words = ConstExtent(dots.op().reduce_extent[0]);
  return words && *words > 1 && *words <= kTile ? *words : 0;
}

// The stage that unpacks numbers; null where they are bytes already.
Stage* UnpackedBy(const Schedule& schedule, const Stage& dots) {
  return schedule.Find(RightOperand(dots)->buffer.get());
}

// The bytes of a panel's numbers.
int64_t PanelBytes(const Stage& dots) {
  const std::vector<Expr>& shape = dots.output().shape();
  return GuessExtent(shape[shape.size() - 2]) * Depth(dots) * kBytesOfTileRow;
}

bool Matches(const ScheduleSite& site) {
  if (TagOf(&site.stage, kAnchor) != kDenseGroups ||
      !site.machine.Has(MachineUnit::kInt8Tiles)) {
    return false;
  }
  const tir::Load* right = RightOperand(site.stage);
  return MultipliesWords(site.stage) && Depth(site.stage) > 0 &&
         right != nullptr &&
         tir::IsConstInt(right->buffer->shape.back(), kTile) &&
         SumOf(site.schedule, site.stage) != nullptr;
}

ScheduleSpace Space(const ScheduleSite& site) {
  ScheduleSpace space;
  const bool unpacks = UnpackedBy(site.schedule, site.stage) != nullptr;
  space.parameters = {
      {"unpack", unpacks ? std::vector<int64_t>{kOncePerPanel, kOncePerTile}
                         : std::vector<int64_t>{kOncePerPanel}},
      // A block of rows of the data fills 1 / n of the second-level cache.
      {"l2_part", {2, 1, 4}}};
  const int64_t depth = Depth(site.stage);
  const double tiles = static_cast<double>(GuessWork(&site.stage)) /
                       static_cast<double>(depth * kTile * kTile);
  const int64_t panel = PanelBytes(site.stage);
  space.cost = [=](const ScheduleChoice& choice) {
    // The stack has room for so much.
    constexpr int64_t kMostBytes = 176 << 10;
    const bool is_per_tile = choice.Get("unpack") == kOncePerTile;
    if (unpacks && !is_per_tile && panel > kMostBytes) {
      return std::numeric_limits<double>::infinity();
    }
    // A tile is stored row by row, and each row takes five instructions of
    // vectors, two a cycle. A word is shifted, masked and stored.
    constexpr double kCycles = kTile * (1 + 2.5), kUnpack = 1.5;
    return tiles *
           (kCycles + (is_per_tile ? kUnpack * static_cast<double>(depth) : 0));
  };
  return space;
}

// The last dimension of the result before its columns that has more than one
// element.
int RowAxisOf(const Stage& out) {
  int axis = static_cast<int>(out.axes().size()) - 2;
  while (axis > 0 && tir::IsConstInt(out.output().shape()[axis], 1)) --axis;
  return axis;
}

// Rows of data, their scales and sums in blocks of which one fills that part of
// the second-level cache, whole tiles.
int64_t BlockRows(const Stage& dots, const MachineModel& machine,
                  int64_t part) {
  const std::vector<Expr>& shape = dots.output().shape();
  constexpr int64_t kBytesOfScaleAndSum = 8, kBytesOfWord = 4;
  const int64_t row_bytes = GuessExtent(shape[shape.size() - 2]) *
                            (Depth(dots) * kBytesOfWord + kBytesOfScaleAndSum);
  return std::max<int64_t>(1, machine.l2_bytes / part / row_bytes / kTile) *
         kTile;
}

// Makes the stage's loops one multiplication of tiles for each group.
void MultiplyGroups(Stage* dots, int row_axis) {
  const int rank = static_cast<int>(dots->axes().size());
  const Loop row = dots->axis(row_axis), column = dots->axis(rank - 1);
  std::vector<Loop> order;
  for (int i = 0; i + 1 < rank; ++i) {
    if (i != row_axis) order.push_back(dots->axis(i));
  }
  for (Loop loop : {dots->reduce_axis(0), row, column}) order.push_back(loop);
  dots->Reorder(order);
  dots->Vectorize(column);
  dots->Tensorize(dots->reduce_axis(0));
}

void UnpackInVectors(Stage* bytes, const MachineModel& machine) {
  const auto [vector, lane] =
      bytes->Split(bytes->axis(3), LanesFor(*bytes, machine));
  bytes->Unroll(bytes->axis(2));
  bytes->Unroll(vector);
  bytes->Vectorize(lane);
}

void Build(Schedule* schedule, Stage* dots, const ScheduleChoice& choice,
           const MachineModel& machine) {
  Stage* bytes = UnpackedBy(*schedule, *dots);
  auto [acc, out] = MakeAnchor(schedule, SumOf(*schedule, *dots));
  const int rank = static_cast<int>(out->axes().size());
  const int row_axis = RowAxisOf(*out);
  const int64_t lanes = LanesFor(*acc, machine);

  const int64_t block = BlockRows(*dots, machine, choice.Get("l2_part"));
  const ResultTiles tiles =
      CutIntoTiles(out, row_axis, block, {kTile, kTile / lanes}, lanes);
  acc->ComputeAt(out, tiles.rows);
  const Loop group = acc->reduce_axis(0);
  auto [av, al] = acc->Split(acc->axis(rank - 1), lanes);
  acc->Reorder({group, acc->axis(row_axis), av, al});
  acc->Unroll(acc->axis(row_axis));
  acc->Unroll(av);
  acc->Vectorize(al);

  dots->ComputeAt(acc, group);
  MultiplyGroups(dots, row_axis);
  if (bytes != nullptr) {
    if (choice.Get("unpack") == kOncePerTile) {
      bytes->ComputeAt(acc, group);
    } else {
      bytes->ComputeAt(out, tiles.columns);
    }
    UnpackInVectors(bytes, machine);
  }

  if (GuessWork(dots) >= kParallelWork) {
    out->Parallel(tiles.row_block.value_or(tiles.columns));
  }
}

}  // namespace

ScheduleTemplate FewBitsTiles() {
  ScheduleTemplate t;
  t.name = "cpu.few_bits_tiles";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
