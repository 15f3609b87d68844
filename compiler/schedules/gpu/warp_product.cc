// Products of matrices, and convolutions that are, by the units that the
// threads of a warp share (MachineUnit::kWarpTiles): of 16-bit floats, and of
// f32 where fewer digits are allowed.
#include <algorithm>

#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/gpu/product.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::gpu {
namespace {

constexpr int64_t kWarp = 32;

// A unit multiplies 16 x 16 by 16 x 8 elements; two of them load the columns'
// operand together.
constexpr int64_t kUnitRows = 16, kUnitColumns = 16;

// Two warps lie along each side of a tile, which a result has to fill.
constexpr int64_t kLeastSide = 32;

// Sums beside which a thread's registers have room for operands; and such
// beside which the assembler loads those of longer steps before it needs them:
// on an H100 a product of 4096 by steps of 64 terms took 1.7 times as long as
// by 32.
constexpr int64_t kMostSums = 128, kMostSumsOfLongSteps = 64;
constexpr int64_t kLongStep = 64;

// The part of each warp: its sides are so much alike as the block's are.
struct Warps {
  int64_t rows, columns;  // of warps

  explicit Warps(const ScheduleChoice& c) {
    const int64_t half = c.Get("warps") / 2;
    const bool is_high = c.Get("rows") > c.Get("columns");
    rows = is_high ? half : 2;
    columns = is_high ? 2 : half;
  }
};

BlockTile TileOf(const ScheduleChoice& c) {
  const Warps warps(c);
  return TileOfWarps(Multipliers::kWarps, warps.rows, warps.columns,
                     c.Get("rows"), c.Get("columns"), c.Get("step"));
}

bool Matches(const ScheduleSite& site) {
  return IsProductOf(site, Multipliers::kWarps, kLeastSide, kLeastSide,
                     kUnitTerms) &&
         site.stage.output().dtype() == DataType::Float(32) &&
         UnitsMultiply(site.machine, OperandType(site.stage));
}

// Units make so many multiply-adds of 16-bit floats in the time of a thread's
// own, and half as many of f32.
constexpr double kByUnits = 8;

double TermCost(const BlockTile& tile, const Warps& warps, DataType type) {
  // Shared memory gives a warp 128 bytes in a cycle, and a unit of it has 1,024
  // multiply-adds in one.
  const int64_t rows = tile.rows.extent() / warps.rows,
                columns = tile.columns.extent() / warps.columns;
  const double reads = 16 * static_cast<double>(rows + columns) /
                       static_cast<double>(rows * columns);
  return UnitsCost(tile, type, kByUnits * 2 / static_cast<double>(type.bytes()),
                   reads);
}

ScheduleSpace Space(const ScheduleSite& site) {
  const Product product = *FindProduct(site.stage, Multipliers::kWarps);
  const ProductSizes sizes = SizesOf(site.stage, product);
  const int64_t cores = std::max(site.machine.group_cores, 1);
  ScheduleSpace space;
  space.parameters = {{"rows", {128, 64, 256, 32}},
                      {"columns", {128, 64, 256, 32}},
                      {"warps", {4, 8}},
                      {"step", {32, 16, 64}},
                      {"chunks", {1, 2, 4, 8, 16}}};
  // One step is computed, and two are on their way, in each of two blocks.
  const int64_t most =
      std::min(site.machine.shared_bytes, site.machine.ahead_bytes / 6);
  space.cost = [=, type = OperandType(site.stage)](const ScheduleChoice& c) {
    const BlockTile tile = TileOf(c);
    const Warps warps(c);
    const int64_t rows = c.Get("rows") / warps.rows,
                  columns = c.Get("columns") / warps.columns;
    const int64_t chunks = c.Get("chunks");
    const int64_t most_sums =
        tile.step < kLongStep ? kMostSums : kMostSumsOfLongSteps;
    if (!Fills(tile, sizes, chunks) || rows % kUnitRows != 0 ||
        columns % kUnitColumns != 0 || rows * columns > most_sums * kWarp ||
        SharedBytes(tile, type) > most) {
      return kImpossible;
    }
    return TilesCost(tile, sizes, cores, chunks, TermCost(tile, warps, type));
  };
  return space;
}

}  // namespace

ScheduleTemplate WarpProduct() {
  return ProductTemplate("gpu.warp_product", Matches, Space, TileOf);
}

}  // namespace ingot::te::gpu
