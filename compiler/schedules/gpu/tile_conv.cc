// Convolutions: a block computes some channels of a tile of the image. Step by
// step along the channels of the data, its threads copy a patch of these and
// the weights into shared memory, padding included, so that all taps read one
// copy; each thread adds to a small tile of its own in registers.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::gpu {
namespace {

// Threads along the output channels, and for each of them along the image.
constexpr int64_t kSide = 16;

constexpr double kImpossible = std::numeric_limits<double>::infinity();

bool IsVar(const Expr& e, const tir::VarPtr& var) {
  return e.get() == var.get();
}

// A convolution without groups: out[n, oc, ...] is a sum over [ic, taps...] of
// data[n, ic, ...] times weight[oc, ic, taps...].
struct Conv {
  tir::Load data, weight;
};

bool IsWeight(const Operation& op, const tir::Load& load) {
  if (load.indices.size() != op.reduce_axis.size() + 1) return false;
  for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
    if (!IsVar(load.indices[i + 1], op.reduce_axis[i])) return false;
  }
  return IsVar(load.indices[0], op.axis[1]);
}

bool IsData(const Operation& op, const tir::Load& load) {
  return load.indices.size() == op.axis.size() &&
         IsVar(load.indices[0], op.axis[0]) &&
         IsVar(load.indices[1], op.reduce_axis[0]);
}

std::optional<Conv> FindConv(const Stage& stage) {
  const Operation& op = stage.op();
  if (!stage.IsReduce() || op.axis.size() < 3 ||
      op.reduce_axis.size() + 1 != op.axis.size()) {
    return std::nullopt;
  }
  const std::vector<const tir::Load*> loads = LoadsOf(op.value);
  if (loads.size() != 2 || loads[0]->buffer == loads[1]->buffer) {
    return std::nullopt;
  }
  for (const int data : {0, 1}) {
    if (IsData(op, *loads[data]) && IsWeight(op, *loads[1 - data])) {
      return Conv{*loads[data], *loads[1 - data]};
    }
  }
  return std::nullopt;
}

// The dimensions of a convolution. A tile has some columns, which are the last
// dimension of the image that has more than one, and some rows.
struct Dimensions {
  int64_t blocks_before = 1;  // what other dimensions have
  int64_t channels, in_channels, taps;
  size_t x, y = 0;  // the axes of columns and rows; 0: there are no rows
  int64_t columns, rows = 1;

  explicit Dimensions(const Stage& stage) {
    const auto& shape = stage.output().shape();
    x = shape.size() - 1;
    while (x > 2 && ConstExtent(shape[x]) == 1) --x;
    if (x > 2) y = x - 1;
    channels = GuessExtent(shape[1]);
    columns = GuessExtent(shape[x]);
    if (y != 0) rows = GuessExtent(shape[y]);
    const int64_t all = channels * columns * rows;
    blocks_before = all == 0 ? 0 : OutputElements(&stage) / all;
    in_channels = GuessExtent(stage.op().reduce_extent[0]);
    taps = in_channels == 0 ? 0 : TermsOf(&stage) / in_channels;
  }
};

// The part of the result that a block computes, and its steps along the
// channels of the data.
struct Tile {
  int64_t channels, rows, columns;
  int64_t threads_y, threads_x;  // along rows and columns: kSide together
  int64_t step;

  Tile(const ScheduleChoice& choice, const Dimensions& of)
      : channels(kSide * choice.Get("channels")), step(choice.Get("step")) {
    const int64_t points = kSide * choice.Get("points");
    columns = of.y == 0 ? points : choice.Get("width");
    threads_x = std::min(columns, kSide);
    threads_y = kSide / threads_x;
    rows = points / columns;
  }
  bool IsPossible() const { return rows >= threads_y; }
};

// Returns how many elements of the data along one of its dimensions `extent`
// elements of the result read, with all taps.
int64_t Reach(const Operation& op, const Expr& index, int64_t extent) {
  int64_t reach = 1;
  for (const tir::Term& term : tir::ToAffine(index).terms) {
    int64_t values = extent;
    for (size_t r = 0; r < op.reduce_axis.size(); ++r) {
      if (tir::Uses(term.factors[0], op.reduce_axis[r].get())) {
        values = GuessExtent(op.reduce_extent[r]);
      }
    }
    reach += term.coefficient * (values - 1);
  }
  return reach;
}

// Returns the bytes of a step: a patch of the data, and weights.
int64_t SharedBytes(const Stage& stage, const Dimensions& of,
                    const Tile& tile) {
  const Operation& op = stage.op();
  const tir::Load data = FindConv(stage)->data;
  const int64_t step = std::min(tile.step, of.in_channels);
  int64_t patch = step;
  for (size_t dim = 2; dim < op.axis.size(); ++dim) {
    patch *= Reach(op, data.indices[dim],
                   dim == of.x   ? tile.columns
                   : dim == of.y ? tile.rows
                                 : 1);
  }
  return (patch + tile.channels * step * of.taps) *
         stage.output().dtype().bytes();
}

// Returns how much longer a term takes where tiles do not divide a dimension:
// each of a thread's numbers has a condition of its own, or all have one.
double Guards(int64_t extent, int64_t tile, int64_t part) {
  if (extent % (extent > tile ? tile : part) == 0) return 1.0;
  return part > 1 ? 1.5 : 1.1;
}

// As for products this counts what a thread reads of shared memory for what it
// computes, and how often all wait.
double Cycles(const Dimensions& of, const Tile& tile, double each,
              int64_t cores) {
  const int64_t blocks =
      of.blocks_before * CeilDiv(of.channels, tile.channels) *
      CeilDiv(of.rows, tile.rows) * CeilDiv(of.columns, tile.columns);
  const int64_t step = std::min(tile.step, of.in_channels);
  const double waits = 1.0 + 0.5 / static_cast<double>(step * of.taps);
  const int64_t terms = CeilDiv(of.in_channels, step) * step * of.taps;
  const int64_t elements = tile.channels * tile.rows * tile.columns;
  return static_cast<double>(CeilDiv(blocks, cores) * elements * terms) * each *
         waits;
}

bool Matches(const ScheduleSite& site) {
  if (site.machine.group_cores == 0 || !site.stage.IsUntouched() ||
      !HasConstantExtents(site.stage) || !FindConv(site.stage).has_value()) {
    return false;
  }
  return TermsOf(&site.stage) > 0;
}

ScheduleSpace Space(const ScheduleSite& site) {
  const Dimensions of(site.stage);
  ScheduleSpace space;
  // These say how much of a tile is a thread's, and the tile's form.
  space.parameters = {{"channels", {4, 2, 1, 8}},
                      {"points", {4, 2, 1, 8}},
                      {"width", {16, 8, 4, 32}},
                      {"step", {8, 4, 2, 1, 16}}};
  space.cost = [of, &site](const ScheduleChoice& c) {
    const Tile tile(c, of);
    if (!tile.IsPossible()) return kImpossible;
    const int64_t bytes = SharedBytes(site.stage, of, tile);
    if (bytes > site.machine.shared_bytes) return kImpossible;
    // While one block waits another computes, where both have room.
    const double alone = 2 * bytes > site.machine.shared_bytes ? 1.1 : 1;
    const double reads = 1.0 + 0.75 / static_cast<double>(c.Get("channels")) +
                         0.75 / static_cast<double>(c.Get("points"));
    const double guards =
        Guards(of.channels, tile.channels, tile.channels / kSide) *
        Guards(of.rows, tile.rows, tile.rows / tile.threads_y) *
        Guards(of.columns, tile.columns, tile.columns / tile.threads_x);
    return Cycles(of, tile, reads * guards * alone, site.machine.group_cores);
  };
  return space;
}

// A copy of what one step of `acc` reads by `load`, in shared memory.
Stage* ShareOperand(Schedule* schedule, Stage* acc, Loop step,
                    const tir::Load& load) {
  Stage* const tile = schedule->CacheRead(
      acc, load, absl::StrCat(load.buffer->name, ".tile"), load.buffer->shape,
      [&](const Indices& i) { return tir::MakeLoad(load.buffer, i); },
      load.indices);
  tile->ComputeAt(acc, step);
  tile->StoreIn(Storage::kShared);
  return tile;
}

// Neighbouring threads copy neighbouring columns, some rows at a time: to take
// every element's number apart would need more divisions than it has products.
void CopyPatch(Schedule* schedule, Stage* acc, Loop step, const tir::Load& data,
               size_t x) {
  constexpr int64_t kLanes = 8;
  Stage* const tile = ShareOperand(schedule, acc, step, data);
  InlinePadding(*schedule, *tile);
  std::vector<Loop> rows = tile->axes();
  rows.erase(rows.begin() + static_cast<int64_t>(x));
  std::vector<Loop> order = rows;
  order.push_back(tile->axis(static_cast<int>(x)));
  tile->Reorder(order);
  const auto [some_rows, row] =
      tile->Split(tile->Fuse(rows), kSide * kSide / kLanes, Tail::kGuard);
  const auto [some_columns, column] =
      tile->Split(tile->axis(static_cast<int>(x)), kLanes, Tail::kGuard);
  tile->Reorder({row, column, some_rows, some_columns});
  tile->Thread(tile->Fuse(row, column));
}

// A thread copies all taps of a channel.
void CopyWeights(Schedule* schedule, Stage* acc, Loop step,
                 const tir::Load& weight) {
  Stage* const tile = ShareOperand(schedule, acc, step, weight);
  ShareAmongThreads(tile, {tile->axis(0), tile->axis(1)}, kSide * kSide);
}

// One side of a tile, in all and of a thread.
struct Side {
  size_t axis;
  int64_t extent, part;
};

std::vector<Side> SidesOf(const Dimensions& of, const Tile& tile) {
  std::vector<Side> sides = {{1, tile.channels, tile.channels / kSide}};
  if (of.y != 0) sides.push_back({of.y, tile.rows, tile.rows / tile.threads_y});
  sides.push_back({of.x, tile.columns, tile.columns / tile.threads_x});
  return sides;
}

// A tile of the result for each block. Returns the loop over blocks.
Loop ScheduleResult(Stage* out, const std::vector<Side>& sides) {
  std::vector<Loop> order = out->axes();
  const size_t rank = order.size();
  std::vector<TileSide> parts;
  for (const Side& side : sides) {
    const auto [block, inside] =
        out->Split(order[side.axis], side.extent, Tail::kGuard);
    order[side.axis] = block;
    order.push_back(inside);
    parts.push_back({inside, side.part});
  }
  out->Reorder(order);
  order.resize(rank);
  CutTile(out, parts, order, {});
  const Loop block = out->Fuse(order);
  out->Block(block);
  return block;
}

// The sums, in registers. Returns the loop over steps.
Loop ScheduleSums(Stage* acc, const std::vector<Side>& sides, int64_t step) {
  const auto [outer, channel] =
      acc->Split(acc->reduce_axis(0), step, Tail::kGuard);
  std::vector<Loop> before = {outer}, terms = {channel};
  terms.insert(terms.end(), acc->reduce_axes().begin() + 1,
               acc->reduce_axes().end());
  std::vector<int64_t> registers(acc->axes().size(), 1);
  std::vector<TileSide> parts;
  size_t axis = 0;
  for (const Side& side : sides) {
    for (; axis < side.axis; ++axis) before.push_back(acc->axis(axis));
    ++axis;
    registers[side.axis] = side.part;
    parts.push_back({acc->axis(side.axis), side.part});
  }
  for (; axis < acc->axes().size(); ++axis) before.push_back(acc->axis(axis));
  // A step's terms are summed apart: one chain of additions loses digits.
  acc->ReduceApartAt(CutTile(acc, parts, before, terms));
  acc->KeepInRegisters(registers);
  return outer;
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel&) {
  const Dimensions of(*stage);
  const Tile tile(choice, of);
  const std::vector<Side> sides = SidesOf(of, tile);
  const auto [acc, out] = MakeAnchor(schedule, stage);
  const Conv conv = *FindConv(*acc);
  const Loop block = ScheduleResult(out, sides);
  const Loop step = ScheduleSums(acc, sides, tile.step);
  acc->ComputeAt(out, block);
  CopyPatch(schedule, acc, step, conv.data, of.x);
  CopyWeights(schedule, acc, step, conv.weight);
}

}  // namespace

ScheduleTemplate TileConv() {
  ScheduleTemplate t;
  t.name = "gpu.tile_conv";
  t.scope = TemplateScope::kAnchor;
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::gpu
