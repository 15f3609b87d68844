// Products of matrices, and convolutions that are, by the units that the
// threads of a warp share (MachineUnit::kWarpTiles): of 16-bit floats, and of
// f32 where fewer digits are allowed.
#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/gpu/product.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::gpu {
namespace {

// The threads of a warp have the sums of 8 x 8 elements as eight rows of four
// threads, each with two neighbours (PTX's mma.m16n8k16 and m16n8k8).
constexpr int64_t kWarp = 32, kRowThreads = 8, kColumnThreads = 4, kPair = 2;

// A unit multiplies 16 x 16 by 16 x 8 elements; two of them load the columns'
// operand together.
constexpr int64_t kUnitRows = 16, kUnitColumns = 16;

// Two warps lie along each side of a tile, which a result has to fill.
constexpr int64_t kLeastSide = 32;

// Sums beside which a thread's registers have room for operands.
constexpr int64_t kMostSums = 128;

constexpr double kImpossible = std::numeric_limits<double>::infinity();

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
  BlockTile tile;
  tile.by_warps = true;
  tile.rows.threads = kRowThreads * warps.rows;
  tile.rows.part = c.Get("rows") / tile.rows.threads;
  tile.rows.run = 1;
  tile.rows.warp = kRowThreads;
  tile.rows.in_pairs = false;
  tile.columns.threads = kColumnThreads * warps.columns;
  tile.columns.part = c.Get("columns") / tile.columns.threads;
  tile.columns.run = kPair;
  tile.columns.warp = kColumnThreads;
  tile.step = c.Get("step");
  return tile;
}

bool Matches(const ScheduleSite& site) {
  if (!site.machine.Has(MachineUnit::kWarpTiles) ||
      site.machine.group_cores == 0 || !site.stage.IsUntouched()) {
    return false;
  }
  const std::optional<Product> product = FindProduct(site.stage);
  if (!product.has_value() ||
      site.stage.output().dtype() != DataType::Float(32) ||
      (OperandType(site.stage).bits == 32 &&
       !site.machine.Has(MachineUnit::kTf32WarpTiles))) {
    return false;
  }
  const ProductSizes sizes = SizesOf(site.stage, *product);
  return sizes.rows >= kLeastSide && sizes.columns >= kLeastSide &&
         sizes.terms >= kUnitRows && sizes.taps > 0;
}

// Counts as tile_product does, in multiply-adds that a multiprocessor's threads
// make each for itself: units make so many of 16-bit floats in the same time,
// and half as many of f32.
constexpr double kByUnits = 8;

double CostOf(const BlockTile& tile, const Warps& warps,
              const ProductSizes& sizes, int64_t bytes, int64_t cores,
              int64_t chunks) {
  const int64_t rows = tile.rows.extent(), columns = tile.columns.extent();
  const int64_t blocks = chunks * sizes.batch * CeilDiv(sizes.rows, rows) *
                         CeilDiv(sizes.columns, columns);
  const int64_t steps = sizes.Steps(tile.step, chunks);
  // Shared memory gives a warp 128 bytes in a cycle, and a unit of it has 1,024
  // multiply-adds in one.
  const double of_warp = static_cast<double>(rows / warps.rows) *
                         static_cast<double>(columns / warps.columns);
  const double reads =
      16 * static_cast<double>(rows / warps.rows + columns / warps.columns) /
      of_warp;
  const double compute =
      Turns(blocks, cores) *
      static_cast<double>(rows * columns * tile.step * steps) / kByUnits *
      static_cast<double>(bytes) / 2 *
      (reads <= 1 ? 1 + 0.4 * reads : 1.4 * reads);
  const int64_t results = 4 * sizes.batch * sizes.rows * sizes.columns;
  return compute + WaitsOf(steps) +
         (chunks == 1 ? 0 : JoinOf(chunks * results));
}

ScheduleSpace Space(const ScheduleSite& site) {
  const Product product = *FindProduct(site.stage);
  const ProductSizes sizes = SizesOf(site.stage, product);
  const int64_t cores = std::max(site.machine.group_cores, 1);
  ScheduleSpace space;
  space.parameters = {{"rows", {128, 64, 256, 32}},
                      {"columns", {128, 64, 256, 32}},
                      {"warps", {4, 8}},
                      {"step", {32, 16, 64}},
                      {"chunks", {1, 2, 4, 8, 16}}};
  // One step is computed, and two are on their way.
  const int64_t most =
      std::min(site.machine.shared_bytes, site.machine.ahead_bytes / 3);
  space.cost = [=, type = OperandType(site.stage)](const ScheduleChoice& c) {
    const BlockTile tile = TileOf(c);
    const Warps warps(c);
    const int64_t rows = c.Get("rows") / warps.rows,
                  columns = c.Get("columns") / warps.columns;
    const int64_t chunks = c.Get("chunks");
    if (tile.rows.extent() > sizes.rows ||
        tile.columns.extent() > sizes.columns || rows % kUnitRows != 0 ||
        columns % kUnitColumns != 0 || rows * columns > kMostSums * kWarp ||
        SharedBytes(tile, type) > most ||
        (chunks > 1 && (product.terms != 0 || sizes.terms % chunks != 0))) {
      return kImpossible;
    }
    return CostOf(tile, warps, sizes, type.bytes(), cores, chunks);
  };
  return space;
}

}  // namespace

ScheduleTemplate WarpProduct() {
  ScheduleTemplate t;
  t.name = "gpu.warp_product";
  t.scope = TemplateScope::kAnchor;
  t.matches = Matches;
  t.space = Space;
  t.build = [](Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
               const MachineModel&) {
    MakeProductLoops(schedule, stage, TileOf(choice), choice.Get("chunks"));
  };
  return t;
}

}  // namespace ingot::te::gpu
