// Winograd's algorithm, a chunk of tiles at a time, which are some rows or
// parts of these: their data is transformed into memory that stays in the
// second-level cache; then, for a few blocks of output channels after the
// other, the products at all points of the tiles are made, transformed back and
// written with what follows.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/schedules/cpu/winograd_stages.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::cpu {
namespace {

bool Matches(const ScheduleSite& site) { return IsWinograd(site, 2); }

// The memory of each point: blocks of channels, rows and columns of tiles, and
// bytes of a block.
struct PointBox {
  int64_t blocks, rows, columns, bytes;

  // By how much each extent, and a block, is longer in memory. Points that are
  // a multiple of a large power of two apart share a few sets of a cache, which
  // hold fewer lines than there are points.
  std::vector<int64_t> Padding() const {
    constexpr int64_t kFewSets = 1024;
    if (blocks * rows * columns * bytes % kFewSets != 0) return {0, 0, 0, 0};
    return {1 - blocks % 2, 1 - rows % 2, 1 - columns % 2, 0};
  }
  int64_t PaddedBytes() const {
    const std::vector<int64_t> more = Padding();
    return (blocks + more[0]) * (rows + more[1]) * (columns + more[2]) * bytes;
  }
};

// Tiles whose data is transformed at a time.
struct Chunk {
  int64_t rows, columns;
};

// The loop that threads share.
enum class Shared { kNothing, kChunks, kSteps, kStepsOfChunk };

// The sizes of a convolution whose tiles are known.
struct Problem : WinogradProblem {
  Problem(const WinogradStages& stages, const MachineModel& machine);

  // The products that one step of the loop over output channels makes.
  PointBox Products(int64_t vectors, Chunk chunk) const {
    return {std::max<int64_t>(1, vectors * lanes / block), chunk.rows,
            chunk.columns, block * element};
  }

  PointBox Data(Chunk chunk) const {
    return {input_blocks, chunk.rows, chunk.columns, input_bytes};
  }

  // Whether a thread keeps a chunk's data, and its products, on its stack.
  bool StaysOnStack(int64_t vectors, Chunk chunk) const {
    return points * (Data(chunk).PaddedBytes() +
                     Products(vectors, chunk).PaddedBytes()) <=
           kMostProductBytes;
  }

  // Columns of a chunk: all, or a part that a row of the result divides into.
  std::vector<int64_t> ChunkColumns() const;

  Shared SharedBy(int64_t vectors, Chunk chunk) const;

  int64_t l2_bytes;
  int64_t images, work;               // products of all images
  int64_t known_images = 1;           // 1 where only a run knows
  int64_t rows, columns;              // of tiles
  int64_t width;                      // of the result
  int64_t input_blocks, input_bytes;  // bytes of a block
};

Problem::Problem(const WinogradStages& stages, const MachineModel& machine)
    : WinogradProblem(stages, machine), l2_bytes(machine.l2_bytes) {
  const auto& shape = stages.products->output().shape();
  images = GuessExtent(shape[0]);
  tir::AsConstInt(shape[0], &known_images);
  work = GuessWork(stages.products);
  rows = GuessExtent(shape[4]);
  columns = GuessExtent(shape[5]);
  width = GuessExtent(stages.result->output().shape()[3]);
  const Tensor& data = stages.tiles->output();
  input_blocks = GuessExtent(data.shape()[3]);
  input_bytes = GuessExtent(data.shape()[6]) * data.dtype().bytes();
}

std::vector<int64_t> Problem::ChunkColumns() const {
  constexpr int64_t kFewest = 4;
  std::vector<int64_t> parts = {columns};
  for (int64_t c = columns / 2; c >= kFewest; --c) {
    if (width % (c * tile) == 0) parts.push_back(c);
  }
  return parts;
}

// Threads take whole chunks, of all images, where these stay on a thread's
// stack; elsewhere each needs a workspace, and small ones at least do not leave
// the caches. Of few or large chunks they share the steps: of all chunks, after
// all data has been transformed, if that stays in the second-level cache, so
// that the first thread has those of the first chunks, whose data it
// transformed; else of each chunk.
Shared Problem::SharedBy(int64_t vectors, Chunk chunk) const {
  constexpr int64_t kSmallChunk = 1 << 22;  // products
  constexpr int64_t kFewChunks = 4;
  if (work < kParallelWork) return Shared::kNothing;
  const int64_t chunks = CeilDiv(rows, chunk.rows);
  if (known_images * chunks >= kFewChunks &&
      (StaysOnStack(vectors, chunk) ||
       work / (images * chunks) < kSmallChunk)) {
    return Shared::kChunks;
  }
  const int64_t all = points * Data({rows, columns}).PaddedBytes();
  return all <= l2_bytes ? Shared::kSteps : Shared::kStepsOfChunk;
}

// Cycles of one step of the reduction over `rows` by `columns` positions.
double PositionCycles(const MachineModel& machine, int64_t rows,
                      int64_t columns, int64_t tile_rows, int64_t tile_columns,
                      int64_t vectors) {
  const auto row_cycles = [&](int64_t height) {
    return PlaneCycles(machine, columns * height, vectors,
                       {std::min(tile_columns, columns) * height, vectors});
  };
  double cycles = (rows / tile_rows) * row_cycles(tile_rows);
  if (rows % tile_rows != 0) cycles += row_cycles(rows % tile_rows);
  return cycles;
}

Chunk ChunkOf(const ScheduleChoice& choice) {
  return {choice.Get("rows"), choice.Get("columns")};
}

// The part of the work of the one of two threads that has more of it, where the
// first has the first half of all chunks' steps, of which the last chunk's may
// have fewer rows.
double LargerShare(const Problem& p, Chunk chunk, int64_t vectors) {
  const double steps =
      static_cast<double>(CeilDiv(p.blocks * p.block, p.lanes * vectors));
  const double first =
      std::floor(steps * CeilDiv(p.rows, chunk.rows) / 2) / steps;
  const double part = std::min<double>(1, first * chunk.rows / p.rows);
  return std::max(part, 1 - part);
}

// Cycles of the products, and of what memory adds to them.
double Cost(const Problem& p, const MachineModel& machine,
            const ScheduleChoice& choice) {
  const int64_t vectors = choice.Get("vectors");
  const int64_t tile_rows = choice.Get("tile_rows");
  const int64_t tile_columns = choice.Get("tile_columns");
  const Chunk chunk = ChunkOf(choice);
  if (tile_rows > chunk.rows || tile_columns > chunk.columns ||
      (chunk.columns < p.columns && !p.StaysOnStack(vectors, chunk)) ||
      p.points * p.Products(vectors, chunk).PaddedBytes() > kMostProductBytes ||
      !FitsRegisters(machine, {tile_rows * tile_columns, vectors})) {
    return std::numeric_limits<double>::infinity();
  }
  const double steps = static_cast<double>(p.points * p.input_channels) *
                       (p.blocks * p.block / (p.lanes * vectors));
  const auto chunk_cycles = [&](int64_t rows) {
    return steps * PositionCycles(machine, rows, chunk.columns, tile_rows,
                                  tile_columns, vectors);
  };
  const int64_t across = p.columns / chunk.columns;
  const int64_t chunks = p.rows / chunk.rows, rest = p.rows % chunk.rows;
  double cycles = chunks * chunk_cycles(chunk.rows);
  // Rows that are left over also cost code.
  constexpr double kCodeOfRest = 1.03;
  if (rest != 0) cycles = (cycles + chunk_cycles(rest)) * kCodeOfRest;
  // Each chunk reads all weights, and its data once for each step over output
  // channels.
  const double weights = static_cast<double>(p.points * p.input_channels) *
                         p.blocks * p.block * p.element;
  const double data = static_cast<double>(p.points * p.input_channels) *
                      chunk.columns * chunk.rows * p.element;
  const double nearby = 32, far = 6;  // bytes a cycle
  const bool stay = weights + data <= machine.l2_bytes * 0.75;
  cycles += (chunks + (rest != 0)) *
            (weights / (stay ? nearby : far) +
             data * p.blocks * p.block / (p.lanes * vectors) /
                 (data <= machine.l2_bytes * 0.75 ? nearby : far));
  const Shared shared = p.SharedBy(vectors, chunk);
  if (shared == Shared::kSteps) cycles *= 2 * LargerShare(p, chunk, vectors);
  // Threads that share a chunk read the other's part of its data.
  constexpr double kShared = 1.3;
  if ((shared == Shared::kSteps && chunks + (rest != 0) == 1) ||
      (shared == Shared::kStepsOfChunk && stay)) {
    cycles *= kShared;
  }
  return cycles * static_cast<double>(across);
}

ScheduleSpace Space(const ScheduleSite& site) {
  const Problem p(*FindWinogradStages(site.schedule, site.stage), site.machine);
  const auto up_to = [](int64_t most, std::vector<int64_t> values) {
    while (values.size() > 1 && values.back() > most) values.pop_back();
    return values;
  };
  std::vector<int64_t> columns;
  for (int64_t c = 1; c <= std::min(p.columns, kMaxTileRows); ++c) {
    columns.push_back(c);
  }
  ScheduleSpace space;
  space.parameters = {
      {"vectors", WinogradVectors(p.blocks, p.block, p.lanes)},
      {"tile_rows", up_to(p.rows, {1, 2, 3, 4})},
      {"tile_columns", columns},
      {"rows", up_to(p.rows, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16})},
      {"columns", p.ChunkColumns()}};
  space.cost = [p, machine = MachineOfTiles(site.stage, site.machine)](
                   const ScheduleChoice& choice) {
    return Cost(p, machine, choice);
  };
  return space;
}

// Columns of tiles whose data is transformed at a time: it stays in the
// first-level cache in between.
constexpr int64_t kTransformed = 8;

// Lanes along the block of channels, the last axis.
int64_t BlockLanes(const Stage& stage, const MachineModel& machine) {
  return std::min(LanesFor(stage, machine),
                  GuessExtent(stage.output().shape().back()));
}

// The data's two transforms, for the tiles of one chunk, or for all of them, in
// chunks of so many rows.
void ScheduleData(const WinogradStages& s, const MachineModel& machine,
                  Shared shared, int64_t chunk_rows) {
  Stage* const tiles = s.tiles;  // n, i, j, c, row, column, block
  auto [co, ci] = tiles->Split(tiles->axis(5), kTransformed);
  auto [tv, tl] = tiles->Split(tiles->axis(6), BlockLanes(*tiles, machine));
  Loop row = tiles->axis(4);
  const Loop channels = tiles->axis(3);
  std::vector<Loop> order = {tiles->axis(0)};
  if (shared == Shared::kSteps) {
    // A chunk after the other, as threads share their products.
    auto [chunk, of_chunk] = tiles->Split(row, chunk_rows);
    order.push_back(chunk);
    row = of_chunk;
  }
  order.insert(order.end(),
               {channels, row, co, ci, tiles->axis(1), tiles->axis(2), tv, tl});
  tiles->Reorder(order);
  tiles->Unroll(tiles->axis(2));
  tiles->Unroll(tv);
  tiles->Vectorize(tl);
  if (shared == Shared::kSteps) {
    tiles->Parallel(tiles->Fuse(order[1], channels));
  }
  if (shared == Shared::kStepsOfChunk) tiles->Parallel(channels);

  Stage* const rows = s.rows;  // n, c, row, i, x, block
  rows->ComputeAt(tiles, co);
  auto [rv, rl] = rows->Split(rows->axis(5), BlockLanes(*rows, machine));
  rows->Reorder({rows->axis(4), rows->axis(3), rv, rl});
  rows->Unroll(rows->axis(3));
  rows->Unroll(rv);
  rows->Vectorize(rl);

  if (s.pad == nullptr) return;
  s.pad->ComputeAt(tiles, co);
  ScheduleElementwise(s.pad, machine);
}

void ScheduleProducts(Stage* products, const ScheduleChoice& choice,
                      int64_t lanes, const MachineModel& machine) {
  auto [ro, ri] = products->Split(products->axis(4), choice.Get("tile_rows"));
  auto [co, ci] =
      products->Split(products->axis(5), choice.Get("tile_columns"));
  ScheduleWinogradProducts(
      products, {ro, co}, {ri, ci},
      {choice.Get("tile_rows") * choice.Get("tile_columns"),
       choice.Get("vectors")},
      lanes, machine);
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  const WinogradStages s = *FindWinogradStages(*schedule, *stage);
  const Problem p(s, machine);
  const int64_t vectors = choice.Get("vectors");
  const Chunk chunk = ChunkOf(choice);
  const Shared shared = p.SharedBy(vectors, chunk);
  const int64_t blocks = std::max<int64_t>(1, vectors * p.lanes / p.block);
  Stage* const out = s.result;  // n, c, y, x, block
  auto [rows, y] = out->Split(out->axis(2), chunk.rows * p.tile);
  auto [row, yi] = out->Split(y, p.tile);
  std::vector<Loop> order = {out->axis(0)}, steps = {rows};
  Loop x = out->axis(3);
  if (chunk.columns < p.columns) {
    auto [columns, of_chunk] =
        out->Split(x, chunk.columns * p.tile, Tail::kExact);
    steps.push_back(columns);
    x = of_chunk;
  }
  auto [column, xi] = out->Split(x, p.tile);
  auto [co, ci] = out->Split(out->axis(1), blocks);
  auto [v, l] = out->Split(out->axis(4), p.lanes);
  Loop around = steps.back(), step = co;
  steps.push_back(co);
  order.insert(order.end(), steps.begin(), steps.end());
  order.insert(order.end(), {ci, row, column, yi, xi, v, l});
  out->Reorder(order);
  for (Loop loop : {yi, xi, v}) out->Unroll(loop);
  out->Vectorize(l);
  if (shared == Shared::kChunks && p.known_images > 1) {
    const bool whole_rows = chunk.columns == p.columns;
    rows = out->Fuse(out->axis(0), rows);
    if (whole_rows) around = rows;
  }
  if (shared == Shared::kChunks) out->Parallel(rows);
  if (shared == Shared::kStepsOfChunk) out->Parallel(co);
  if (shared == Shared::kSteps) {
    around = out->axis(0);
    step = out->Fuse(steps);
    out->Parallel(step);
  }

  s.tiles->ComputeAt(out, around);
  s.tiles->PadBox(p.Data(chunk).Padding());
  if (shared == Shared::kSteps) s.tiles->CutBox({/*axis=*/4, chunk.rows});
  if (shared == Shared::kSteps || !p.StaysOnStack(vectors, chunk)) {
    s.tiles->StoreIn(Storage::kBox);
  }
  ScheduleData(s, machine, shared, chunk.rows);
  s.products->ComputeAt(out, step);
  s.products->PadBox(p.Products(vectors, chunk).Padding());
  ScheduleProducts(s.products, choice, p.lanes, machine);
  s.back->ComputeAt(out, column);
  ScheduleWinogradBack(s.back, p.lanes);
}

}  // namespace

ScheduleTemplate Winograd() {
  ScheduleTemplate t;
  t.name = "cpu.winograd";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
