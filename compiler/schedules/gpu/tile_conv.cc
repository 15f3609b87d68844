// Convolutions: a block computes some channels of a tile of the image. Step by
// step along the channels of the data, its threads copy a patch of these and
// the weights into shared memory, padding included, so that all taps read one
// copy; each thread adds to a small tile of its own in registers. Tiles that
// stick out compute zeros there. Where there are few tiles, several blocks
// share the channels of the data, and a second kernel joins their sums.
#include <algorithm>
#include <map>
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
  int64_t step, chunks;

  Tile(const ScheduleChoice& choice, const Dimensions& of)
      : channels(kSide * choice.Get("channels")),
        step(choice.Get("step")),
        chunks(choice.Get("chunks")) {
    const int64_t points = kSide * choice.Get("points");
    columns = of.y == 0 ? points : choice.Get("width");
    threads_x = std::min(columns, kSide);
    threads_y = kSide / threads_x;
    rows = points / columns;
  }
  bool IsPossible(const Dimensions& of) const {
    return rows >= threads_y &&
           (chunks == 1 || of.in_channels % (chunks * step) == 0);
  }
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
  return (patch + (tile.channels + kRun) * step * of.taps) *
         stage.output().dtype().bytes();
}

// Returns how much longer a term takes where tiles do not divide a dimension:
// each of a thread's numbers has a condition of its own, or all have one.
double Guards(int64_t extent, int64_t tile, int64_t part) {
  if (extent > tile || extent % part == 0) return 1.0;
  return part > 1 ? 1.5 : 1.1;
}

double Cycles(const Dimensions& of, const Tile& tile, double each,
              int64_t cores) {
  const int64_t blocks =
      tile.chunks * of.blocks_before * CeilDiv(of.channels, tile.channels) *
      CeilDiv(of.rows, tile.rows) * CeilDiv(of.columns, tile.columns);
  const int64_t channels = of.in_channels / tile.chunks;
  const int64_t step = std::min(tile.step, channels);
  const int64_t steps = CeilDiv(channels, step);
  const int64_t elements = tile.channels * tile.rows * tile.columns;
  const int64_t results =
      4 * of.blocks_before * of.channels * of.rows * of.columns;
  return Turns(blocks, cores) *
             static_cast<double>(elements * steps * step * of.taps) * each +
         WaitsOf(steps) +
         (tile.chunks == 1 ? 0 : JoinOf(tile.chunks * results));
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
                      {"step", {8, 4, 2, 1, 16}},
                      {"chunks", {1, 2, 4, 8, 16}}};
  space.cost = [of, &site](const ScheduleChoice& c) {
    const Tile tile(c, of);
    if (!tile.IsPossible(of)) return kImpossible;
    const int64_t bytes = SharedBytes(site.stage, of, tile);
    if (bytes > site.machine.shared_bytes) return kImpossible;
    // While one block waits another computes, where both have room.
    const double alone = 2 * bytes > site.machine.shared_bytes ? 1.1 : 1;
    const int64_t part = c.Get("channels"), points = c.Get("points");
    const double weights =
        part < kRun ? static_cast<double>(part) : static_cast<double>(part) / 2;
    const double reads =
        SharedReads(weights, static_cast<double>(points), part * points);
    const double guards =
        Guards(of.channels, tile.channels, tile.channels / kSide) *
        Guards(of.rows, tile.rows, tile.rows / tile.threads_y) *
        Guards(of.columns, tile.columns, tile.columns / tile.threads_x);
    return Cycles(of, tile, reads * guards * alone, site.machine.group_cores);
  };
  return space;
}

// Makes the stages of a convolution and their loops.
class Scheduler {
 public:
  Scheduler(Schedule* schedule, Stage* stage, const ScheduleChoice& choice)
      : schedule_(schedule),
        of_(*stage),
        tile_(choice, of_),
        conv_(*FindConv(*stage)),
        stage_(stage) {
    if (tile_.chunks == 1) return;
    stage_ = schedule->ReduceInChunks(stage, 0, tile_.chunks);
    first_ = 1;
    Stage* const joined = JoinInto(schedule, stage);
    joined->Parallel(FuseAxes(joined));
  }

  void Run() {
    std::vector<Expr> rounded = stage_->output().shape();
    for (const Side& side : Sides()) {
      rounded[side.axis] =
          tir::MakeInt(RoundedUp(GuessExtent(rounded[side.axis]), side.extent));
    }
    Stage* const acc =
        schedule_->CacheWrite(stage_, rounded, stage_->op().reduce_extent);
    Stage* const out = JoinInto(schedule_, stage_);
    const Loop block = ScheduleResult(out);
    const Loop step = ScheduleSums(acc);
    acc->ComputeAt(out, block);
    CopyPatch(acc, step);
    CopyWeights(acc, step);
  }

 private:
  // One side of a tile: how much of it a block has, and how a thread's part is
  // cut.
  struct Side {
    size_t axis;
    int64_t extent, part, run, threads;

    TileSide Of(Loop loop) const { return {loop, part, run, threads}; }
  };

  std::vector<Side> Sides() const {
    const int64_t part = tile_.channels / kSide;
    std::vector<Side> sides = {
        {first_ + 1, tile_.channels, part, std::min(part, kRun), kSide}};
    if (of_.y != 0) {
      sides.push_back({first_ + of_.y, tile_.rows, tile_.rows / tile_.threads_y,
                       1, tile_.threads_y});
    }
    sides.push_back({first_ + of_.x, tile_.columns,
                     tile_.columns / tile_.threads_x, 1, tile_.threads_x});
    return sides;
  }

  // A tile of the result for each block. Returns the loop over blocks.
  Loop ScheduleResult(Stage* out) {
    std::vector<Loop> order = out->axes();
    const size_t rank = order.size();
    std::vector<TileSide> parts;
    for (const Side& side : Sides()) {
      const auto [block, inside] =
          out->Split(order[side.axis], side.extent, Tail::kGuard);
      order[side.axis] = block;
      order.push_back(inside);
      parts.push_back(side.Of(inside));
    }
    out->Reorder(order);
    order.resize(rank);
    CutTile(out, parts, order, {});
    const Loop block = out->Fuse(order);
    out->Block(block);
    return block;
  }

  // The sums, in registers. Returns the loop over steps.
  Loop ScheduleSums(Stage* acc) {
    const auto [outer, channel] =
        acc->Split(acc->reduce_axis(0), tile_.step, Tail::kGuard);
    std::vector<Loop> before = {outer}, terms = {channel};
    terms.insert(terms.end(), acc->reduce_axes().begin() + 1,
                 acc->reduce_axes().end());
    std::vector<TileSide> parts;
    std::map<size_t, TileSide> by_axis;
    size_t axis = 0;
    for (const Side& side : Sides()) {
      for (; axis < side.axis; ++axis) before.push_back(AxisOf(acc, axis));
      ++axis;
      parts.push_back(side.Of(AxisOf(acc, side.axis)));
      by_axis.emplace(side.axis, parts.back());
    }
    for (; axis < acc->axes().size(); ++axis) {
      before.push_back(AxisOf(acc, axis));
    }
    // A step's terms are summed apart: one chain of additions loses digits.
    acc->ReduceApartAt(CutTile(acc, parts, before, terms));
    KeepTile(acc, by_axis);
    return outer;
  }

  static Loop AxisOf(const Stage* stage, size_t axis) {
    return stage->axis(static_cast<int>(axis));
  }

  // The load of that tensor in the sums.
  static tir::Load LoadIn(const Stage* acc, const tir::Buffer& buffer) {
    const std::vector<const tir::Load*> loads = LoadsOf(acc->op().value);
    return loads[0]->buffer == buffer ? *loads[0] : *loads[1];
  }

  // A copy of the data of a step. Neighbouring threads copy neighbouring
  // columns, some rows at a time: to take every element's number apart would
  // need more divisions than it has products.
  void CopyPatch(Stage* acc, Loop step) {
    constexpr int64_t kNeighbours = 8;
    const tir::Load data = LoadIn(acc, conv_.data.buffer);
    // Tiles that stick out of the result may read beyond the data.
    std::vector<Expr> shape = data.buffer->shape;
    std::vector<size_t> beyond;
    for (size_t dim = 2; dim < shape.size(); ++dim) {
      const int64_t reach =
          Reach(acc->op(), data.indices[dim],
                GuessExtent(acc->output().shape()[first_ + dim]));
      if (reach <= GuessExtent(shape[dim])) continue;
      beyond.push_back(dim);
      shape[dim] = tir::MakeInt(reach);
    }
    const auto value = [&](const Indices& i) {
      Expr load = tir::MakeLoad(data.buffer, i);
      Expr inside;
      for (const size_t dim : beyond) {
        const Expr is_in = tir::Lt(i[dim], data.buffer->shape[dim]);
        inside = inside == nullptr ? is_in : tir::And(inside, is_in);
      }
      if (inside == nullptr) return load;
      return tir::MakeSelect(inside, load, tir::MakeConst(load->dtype, 0));
    };
    Stage* const tile = schedule_->CacheRead(
        acc, data, absl::StrCat(data.buffer->name, ".tile"), shape, value,
        data.indices);
    tile->ComputeAt(acc, step);
    tile->StoreIn(Storage::kShared);
    InlinePadding(*schedule_, *tile);
    std::vector<Loop> rows = tile->axes();
    rows.erase(rows.begin() + static_cast<int64_t>(of_.x));
    std::vector<Loop> order = rows;
    order.push_back(AxisOf(tile, of_.x));
    tile->Reorder(order);
    const auto [some_rows, row] = tile->Split(
        tile->Fuse(rows), kSide * kSide / kNeighbours, Tail::kGuard);
    const auto [some_columns, column] =
        tile->Split(AxisOf(tile, of_.x), kNeighbours, Tail::kGuard);
    tile->Reorder({row, column, some_rows, some_columns});
    tile->Thread(tile->Fuse(row, column));
  }

  // A copy of the weights of a step, [channels of the data and taps, channels
  // of the result]. Neighbouring threads read neighbouring taps, few at a time,
  // so that what they store lies in different banks.
  void CopyWeights(Stage* acc, Loop step) {
    const tir::Load weight = LoadIn(acc, conv_.weight.buffer);
    const std::vector<Expr>& shape = weight.buffer->shape;
    const int64_t channels = GuessExtent(shape[0]);
    Expr term = tir::MakeInt(0);
    int64_t terms = 1;
    for (size_t i = 1; i < shape.size(); ++i) {
      term = term * shape[i] + weight.indices[i];
      terms *= GuessExtent(shape[i]);
    }
    const int64_t rounded = GuessExtent(acc->output().shape()[first_ + 1]);
    const auto value = [&](const Indices& i) {
      Indices from(shape.size());
      from[0] = i[1];
      Expr rest = i[0];
      for (size_t dim = shape.size(); dim-- > 1;) {
        from[dim] = dim == 1 ? rest : rest % shape[dim];
        rest = rest / shape[dim];
      }
      Expr load = tir::MakeLoad(weight.buffer, std::move(from));
      if (rounded == channels) return load;
      return tir::MakeSelect(tir::Lt(i[1], tir::MakeInt(channels)), load,
                             tir::MakeConst(load->dtype, 0));
    };
    Stage* const tile = schedule_->CacheRead(
        acc, weight, absl::StrCat(weight.buffer->name, ".tile"),
        {tir::MakeInt(terms), tir::MakeInt(rounded)}, value,
        {term, weight.indices[0]});
    const auto [far, near] =
        tile->Split(tile->axis(0), kTermsTogether, Tail::kGuard);
    ShareAmongThreads(tile, {far, tile->axis(1), near}, kSide * kSide);
    tile->ComputeAt(acc, step);
    tile->StoreIn(Storage::kShared);
    tile->PadBox({kRun});
  }

  Schedule* const schedule_;
  const Dimensions of_;
  const Tile tile_;
  const Conv conv_;
  Stage* stage_;
  size_t first_ =
      0;  // of the convolution's axes: there is one of chunks before
};

}  // namespace

ScheduleTemplate TileConv() {
  ScheduleTemplate t;
  t.name = "gpu.tile_conv";
  t.scope = TemplateScope::kAnchor;
  t.matches = Matches;
  t.space = Space;
  t.build = [](Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
               const MachineModel&) {
    Scheduler(schedule, stage, choice).Run();
  };
  return t;
}

}  // namespace ingot::te::gpu
