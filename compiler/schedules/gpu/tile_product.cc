// Products of matrices, and convolutions that are, each thread of a block for
// itself. Where there are few tiles, several blocks share the sum of each, and
// a second kernel joins their parts.
#include <algorithm>

#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/gpu/product.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::gpu {
namespace {

// Threads along each side of a tile.
constexpr int64_t kSide = 16;

// Threads that run together read least where they are neighbours along both
// sides of a tile.
constexpr int64_t kWarpRows = 4, kWarpColumns = 8;

TileSide SideOf(int64_t extent, int64_t warp) {
  const int64_t part = extent / kSide;
  TileSide side;
  side.part = part;
  side.run = std::min(part, kRun);
  side.threads = kSide;
  side.warp = warp;
  return side;
}

BlockTile TileOf(const ScheduleChoice& choice) {
  BlockTile tile;
  tile.rows = SideOf(choice.Get("rows"), kWarpRows);
  tile.columns = SideOf(choice.Get("columns"), kWarpColumns);
  tile.step = choice.Get("step");
  tile.terms_last = choice.Get("terms_last") != 0;
  return tile;
}

bool Matches(const ScheduleSite& site) {
  return IsProductOf(site, Multipliers::kThreads, kSide, kSide);
}

// Counts what the multiprocessors of a device take, in multiply-adds of one.
// Larger tiles read less of the operands, and leave more of the device idle
// where there are few of them; while a block waits for a step, others compute
// if there are any.
struct Costs {
  ProductSizes sizes;
  int64_t cores;
  // Copying an element of an image costs this: its number is taken apart, and
  // it has no neighbours that are copied with it.
  double each_copy;

  double Of(const BlockTile& tile, int64_t chunks) const {
    const int64_t rows = tile.rows.extent(), columns = tile.columns.extent();
    const int64_t elements = rows * columns;
    const double reads = SharedReads(LoadsFor(rows), LoadsFor(columns),
                                     elements / (kSide * kSide));
    return TilesCost(tile, sizes, cores, chunks,
                     static_cast<double>(elements) * reads +
                         static_cast<double>(rows + columns) * each_copy);
  }

  // Accesses of shared memory for a thread's part of a side: one of 16 bytes
  // takes about as long as two of fewer.
  static double LoadsFor(int64_t side) {
    const int64_t part = side / kSide;
    return part < kRun ? 1 : 2.0 * static_cast<double>(part / kRun);
  }
};

ScheduleSpace Space(const ScheduleSite& site) {
  const Product product = *FindProduct(site.stage, Multipliers::kThreads);
  const ProductSizes all = SizesOf(site.stage, product);
  constexpr double kCopy = 10;
  const bool of_image = product.columns.IsJoined() || all.taps > 1;
  const Costs costs{all, std::max(site.machine.group_cores, 1),
                    of_image ? kCopy : 0};
  ScheduleSpace space;
  space.parameters = {{"rows", {64, 32, 128, 16}},
                      {"columns", {64, 32, 128, 16}},
                      {"step", {16, 8}},
                      {"chunks", {1, 2, 4, 8, 16}},
                      // Operands are then copied faster and take more
                      // registers: a measurement tells which counts.
                      {"terms_last", {0, 1}}};
  const Operation& op = site.stage.op();
  const bool has_runs = TermsComeInRuns(op, product.terms, product.rows.last,
                                        product.columns.last) ||
                        TermsComeInRuns(op, product.terms, product.columns.last,
                                        product.rows.last);
  space.cost = [=, most = site.machine.shared_bytes,
                type = OperandType(site.stage)](const ScheduleChoice& c) {
    const BlockTile tile = TileOf(c);
    const int64_t chunks = c.Get("chunks");
    // Some threads would have nothing of a larger tile, and parts of taps are
    // few terms.
    if (SharedBytes(tile, type) > most || (chunks > 1 && product.terms != 0) ||
        (tile.terms_last && !has_runs) || !Fills(tile, costs.sizes, chunks)) {
      return kImpossible;
    }
    return costs.Of(tile, chunks);
  };
  return space;
}

}  // namespace

ScheduleTemplate TileProduct() {
  return ProductTemplate("gpu.tile_product", Matches, Space, TileOf);
}

}  // namespace ingot::te::gpu
