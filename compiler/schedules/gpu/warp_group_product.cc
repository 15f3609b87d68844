// Products of matrices, and convolutions that are, of 16-bit floats by the
// units that the threads of four warps share (MachineUnit::kWarpGroupTiles).
// Both operands come from shared memory, into which the machine copies boxes of
// them (Multipliers::kWarpGroups).
#include <algorithm>

#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/gpu/product.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::gpu {
namespace {

// Four warps have 64 rows, 16 each.
constexpr int64_t kRowsOfWarp = 16;
constexpr int64_t kLeastRows = 4 * kRowsOfWarp, kLeastColumns = kBoxRow;

BlockTile TileOf(const ScheduleChoice& c) {
  const int64_t rows = c.Get("rows");
  return TileOfWarps(Multipliers::kWarpGroups, rows / kRowsOfWarp,
                     /*column_warps=*/1, rows, c.Get("columns"), c.Get("step"));
}

bool Matches(const ScheduleSite& site) {
  return site.machine.Has(MachineUnit::kWarpGroupTiles) &&
         IsProductOf(site, Multipliers::kWarpGroups, kLeastRows,
                     kLeastColumns) &&
         site.stage.output().dtype() == DataType::Float(32) &&
         OperandType(site.stage).bits == 16 &&
         AreBoxes(site, *FindProduct(site.stage, Multipliers::kWarpGroups));
}

// Units make so many multiply-adds in the time of a thread's own.
constexpr double kByUnits = 16;

double TermCost(const BlockTile& tile, DataType type) {
  // They read their 64 rows and all columns for each multiplication.
  constexpr double kRows = kLeastRows;
  const auto columns = static_cast<double>(tile.columns.extent());
  return UnitsCost(tile, type, kByUnits, (kRows + columns) / (2 * columns));
}

ScheduleSpace Space(const ScheduleSite& site) {
  const Product product = *FindProduct(site.stage, Multipliers::kWarpGroups);
  const ProductSizes sizes = SizesOf(site.stage, product);
  const int64_t cores = std::max(site.machine.group_cores, 1);
  ScheduleSpace space;
  space.parameters = {{"rows", {128, 64}},
                      {"columns", {128, 256, 192, 64}},
                      {"step", {kBoxRow}},
                      {"chunks", {1, 2, 4, 8, 16}}};
  // Two steps are computed at once, and one is on its way. There is no sum of
  // one step, and none whose boxes would reach into another block's.
  const int64_t most = site.machine.ahead_bytes / 3;
  space.cost = [=, type = OperandType(site.stage)](const ScheduleChoice& c) {
    const BlockTile tile = TileOf(c);
    const int64_t chunks = c.Get("chunks");
    const bool is_cut = chunks > 1 && sizes.terms / chunks % tile.step != 0;
    if (!Fills(tile, sizes, chunks) || is_cut ||
        sizes.Steps(tile.step, chunks) < 2 || SharedBytes(tile, type) > most) {
      return kImpossible;
    }
    return TilesCost(tile, sizes, cores, chunks, TermCost(tile, type));
  };
  return space;
}

}  // namespace

ScheduleTemplate WarpGroupProduct() {
  return ProductTemplate("gpu.warp_group_product", Matches, Space, TileOf);
}

}  // namespace ingot::te::gpu
