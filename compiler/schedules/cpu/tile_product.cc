// Products of matrices whose elements are sums of bf16 parts, or bytes, by
// registers of tiles: two rows and two columns of tiles in the inside, a block
// of rows that stays in the second-level cache around them.
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

// The rows of 64 bytes of an element's sum.
int64_t StepsOf(const Stage& product) {
  const int64_t extent = GuessExtent(product.op().reduce_extent[0]);
  return MultipliesWords(product) ? extent / kTile : extent;
}

// Whether the places of elements are known from that of the first in a row, and
// from one row to the next.
bool HasKnownRows(const Stage& product) {
  const std::vector<const tir::Load*> loads = LoadsOf(product.op().value);
  return std::all_of(loads.begin(), loads.end(), [](const tir::Load* load) {
    return ConstExtent(load->buffer->shape.back()).has_value();
  });
}

// Whether weights lie in panels of a tile's columns, whole tiles deep
// (LayoutPreferences::byte_depth), and rows fill a tile.
bool FillsTilesOfWords(const Stage& product) {
  const tir::Load* right = RightOperand(product);
  const auto words = ConstExtent(product.op().reduce_extent[0]);
  const std::vector<Expr>& shape = product.output().shape();
  return MultipliesWords(product) && HasKnownRows(product) &&
         right != nullptr &&
         tir::IsConstInt(right->buffer->shape.back(), kTile) && words &&
         *words % kTile == 0 && GuessExtent(shape[RowAxis(product)]) >= kTile;
}

bool Matches(const ScheduleSite& site) {
  const absl::string_view anchor = TagOf(&site.stage, kAnchor);
  const bool can_multiply =
      (anchor == kDenseParts &&
       site.machine.Has(MachineUnit::kBFloat16Tiles)) ||
      (anchor == kDensePacked && site.machine.Has(MachineUnit::kInt8Tiles) &&
       FillsTilesOfWords(site.stage));
  return can_multiply && StepsOf(site.stage) > 1;
}

// The columns that one multiplication takes: two tiles, where what is left over
// at the end is one tile or less.
int64_t ColumnsAtOnce(int64_t columns) {
  const int64_t rest = columns % (2 * kTile);
  return rest <= kTile ? 2 * kTile : kTile;
}

ScheduleSpace Space(const ScheduleSite& site) {
  ScheduleSpace space;
  space.parameters = {{"row_tiles", {2, 1}},
                      // A block of rows of the data fills 1 / n of the
                      // second-level cache.
                      {"l2_part", {2, 1, 4}}};
  if (MultipliesWords(site.stage)) {
    // Vectors can do this, too: here 16 cycles go for the words of a tile, and
    // as many for loading and storing.
    constexpr double kCyclesOfWord = 32.0 / (kTile * kTile * kTile);
    const double words = static_cast<double>(GuessWork(&site.stage));
    space.cost = [words](const ScheduleChoice&) {
      return words * kCyclesOfWord;
    };
  }
  return space;
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  auto [acc, out] = MakeAnchor(schedule, stage);
  ScheduleParts(*schedule, *acc, machine);
  const int rank = static_cast<int>(out->axes().size());
  const int64_t lanes = LanesFor(*acc, machine);
  const int64_t m = GuessExtent(out->output().shape()[rank - 2]);
  const int64_t steps = StepsOf(*acc);
  const int64_t rows_at_once = choice.Get("row_tiles") * kTile;
  const int64_t columns_at_once =
      ColumnsAtOnce(GuessExtent(out->output().shape()[rank - 1]));
  const int64_t row_bytes = kBytesOfTileRow * NumberOfParts(*acc);

  Loop rows = out->axis(rank - 2), columns = out->axis(rank - 1);
  std::vector<Loop> order;
  for (int i = 0; i + 2 < rank; ++i) order.push_back(out->axis(i));
  int64_t block = machine.l2_bytes / choice.Get("l2_part") / row_bytes / steps;
  block = std::max<int64_t>(1, block / rows_at_once) * rows_at_once;
  std::optional<Loop> row_block;
  if (m > 2 * block) {
    auto [o, i] = out->Split(rows, block);
    row_block = o;
    rows = i;
    order.push_back(o);
  }
  auto [mo, mi] = out->Split(rows, rows_at_once);
  auto [no, ni] = out->Split(columns, columns_at_once);
  auto [nv, nl] = out->Split(ni, lanes);
  auto [few, row] = out->Split(mi, kRowsOfTail);
  for (Loop loop : {no, mo, few, row, nv, nl}) order.push_back(loop);
  out->Reorder(order);
  out->Unroll(row);
  out->Unroll(nv);
  out->Vectorize(nl);

  // All steps at once: sums that leave the tiles and come back cost more than
  // weights that come from the second-level cache.
  acc->ComputeAt(out, mo);
  auto [co, cl] = acc->Split(acc->axis(rank - 1), kTile);
  TensorizeTiles(acc, acc->axis(rank - 2), co, cl);

  if (GuessWork(acc) >= kParallelWork) {
    out->Parallel(row_block.value_or(no));
  }
}

}  // namespace

ScheduleTemplate TileProduct() {
  ScheduleTemplate t;
  t.name = "cpu.tile_product";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
