#include "compiler/schedules/cpu/cpu_loops.h"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/schedules/stage_facts.h"
#include "compiler/te/conditions.h"
#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

// Axes of an image.
constexpr int kChannels = 1, kRows = 2;

// More pieces than this would be more code than they save time.
constexpr size_t kMaxCuts = 128;

size_t CountCuts(const Stage& stage, int axis) {
  return ConditionCuts(stage.op(), axis, tir::Bounds::Dimensions()).size();
}

// Partial results for a reduction along contiguous elements: vectors, and
// enough of them to hide the latency of an addition.
int64_t ReductionLanes(int64_t extent, int64_t lanes) {
  if (lanes < 2) return 0;
  for (int64_t vectors : {4, 2, 1}) {
    if (extent >= 4 * vectors * lanes) return vectors * lanes;
  }
  return extent >= lanes ? lanes : 0;
}

// Whether the value is an element that `var` goes through one by one in memory,
// whichever conditions choose it.
bool CopiesNeighbours(const Expr& value, const tir::Var* var) {
  if (const auto* select = tir::As<tir::Select>(value)) {
    return CopiesNeighbours(select->on_true, var) &&
           CopiesNeighbours(select->on_false, var);
  }
  const auto* load = tir::As<tir::Load>(value);
  return load != nullptr && AccessStride(*load, var) == 1;
}

// Whether to cut the last axis in vectors, of so many lanes. Conditions at more
// places would take every branch on either side. The parts between them that
// are copies, of sizes that only a run knows, are left to code generators,
// which make each one copy of memory: a second loop for the rest of each is
// only code, and a concatenation has a hundred.
bool TakesVectors(const Stage& stage, int64_t lanes) {
  const int last = static_cast<int>(stage.axes().size()) - 1;
  const Expr& row = stage.output().shape()[last];
  if (lanes == 1 || GuessExtent(row) <= 1) return false;
  const size_t cuts = CountCuts(stage, last);
  if (cuts == 0 || ConstExtent(row)) return cuts <= kMaxCuts;
  return cuts <= kMaxCuts &&
         !CopiesNeighbours(stage.op().value, stage.op().axis[last].get());
}

// Whether every element is made of those in its own place.
bool ReadsInPlace(const Stage& stage) {
  const std::vector<const tir::Load*> loads = LoadsOf(stage.op().value);
  return std::all_of(loads.begin(), loads.end(), [&](const tir::Load* load) {
    return ReadsAtOwnPoints(stage, load->buffer);
  });
}

// Iterations that are enough for threads to share.
constexpr int64_t kEnoughToShare = 8;

// Iterations of the first `axes`.
int64_t LikelyIterations(const Stage& stage, int axes) {
  int64_t iterations = 1;
  for (int i = 0; i < axes; ++i) iterations *= LikelyExtent(stage, i);
  return iterations;
}

// Returns how many of the outer `axes` to fuse. The index of a fused loop is
// divided to find places in other tensors: the last axis stays a loop where
// that takes long beside a row, of so many vectors, and the others are enough
// to share.
int AxesToFuse(const Stage& stage, int axes, int64_t vectors) {
  constexpr int64_t kShortRow = 4;
  if (axes < 2) return axes;
  const bool is_known =
      ConstExtent(stage.output().shape()[axes - 1]).has_value();
  if (is_known && (vectors > kShortRow || ReadsInPlace(stage))) return axes;
  return LikelyIterations(stage, axes - 1) >= kEnoughToShare ? axes - 1 : axes;
}

// Axes of which the one at `cut` has conditions, or none if it is the rank.
void ShareImage(Stage* stage, int cut) {
  const Loop channels = stage->axis(kChannels), rows = stage->axis(kRows);
  if (cut == kRows) {
    stage->Reorder({rows, channels});
    stage->Parallel(rows);
    return;
  }
  constexpr int64_t kShares = 16;
  const auto [share, row] =
      stage->Split(rows, RowsOfShare(*stage, kShares), Tail::kShorten);
  stage->Reorder({share, channels, row});
  FuseParallel(stage, 2, true);
}

// How many of `rows`, in whole tiles, a block has that has `most` of them at
// most: so many that threads have equal shares of all blocks.
int64_t RowsOfEvenBlock(int64_t rows, int64_t most, int64_t tile_rows) {
  // Numbers that 2, 3, 4 and 6 threads share equally; among more blocks, one
  // more or less is not much. Fewer tiles than that read a block's weights too
  // often.
  constexpr int64_t kNumbers[] = {12, 24};
  constexpr int64_t kFewestTiles = 8;
  for (const int64_t number : kNumbers) {
    const int64_t tiles = CeilDiv(CeilDiv(rows, number), tile_rows);
    if (tiles >= kFewestTiles && tiles * tile_rows <= most) {
      return tiles * tile_rows;
    }
  }
  return most;
}

}  // namespace

int64_t LikelyExtent(const Stage& stage, int axis) {
  const auto& shape = stage.output().shape();
  const bool is_batch = axis == 0 && shape.size() >= 4;
  return ConstExtent(shape[axis]).value_or(is_batch ? 1 : kGuess);
}

bool SharesRows(const Stage& stage) {
  return stage.axes().size() == 5 &&
         GuessExtent(stage.output().shape()[kRows]) >= kEnoughToShare;
}

int64_t RowsOfShare(const Stage& stage, int64_t shares) {
  const int64_t height = GuessExtent(stage.output().shape()[kRows]);
  const int64_t most = CeilDiv(height, shares);
  for (int64_t rows = most; rows > most / 2; --rows) {
    if (height % rows == 0) return rows;
  }
  return most;
}

int64_t LanesFor(const Stage& stage, const MachineModel& machine) {
  return std::max<int64_t>(machine.lanes(stage.output().dtype().bits), 1);
}

int64_t LanesAtOnce(const Stage& stage, const Expr& extent,
                    const MachineModel& machine) {
  constexpr int64_t kVectors = 4;
  const int64_t lanes = LanesFor(stage, machine);
  // The tail of a loop of unknown extent is done one element at a time.
  const std::optional<int64_t> known = ConstExtent(extent);
  const bool waits = machine.wide_vectors && lanes > 1 && known &&
                     *known >= kVectors * lanes &&
                     stage.output().dtype().bits <= 32 &&
                     IsExpensive(stage.op().value);
  return waits ? kVectors * lanes : lanes;
}

std::optional<Loop> FuseParallel(Stage* stage, int count, bool parallel) {
  if (count == 0) return std::nullopt;
  std::vector<Loop> loops(stage->leaves().begin(),
                          stage->leaves().begin() + count);
  Loop fused = stage->Fuse(loops);
  if (parallel) stage->Parallel(fused);
  return fused;
}

// Whether a load's last indices are the axes, whose extents those dimensions
// have, so that what is consecutive along the axes is so in memory. The first
// of them may start anywhere.
bool ReadsInOrder(const tir::Load& load, const std::vector<tir::VarPtr>& axes,
                  const std::vector<Expr>& extents) {
  const std::vector<Expr>& shape = load.buffer->shape;
  if (shape.size() < axes.size()) return false;
  const size_t first = shape.size() - axes.size();
  for (size_t k = 0; k < axes.size(); ++k) {
    for (size_t i = 0; i < shape.size(); ++i) {
      tir::Affine rest = tir::ToAffine(load.indices[i]);
      if (i == first + k) rest.Add(tir::Affine::Atom(axes[k]), -1);
      if (tir::Uses(rest.ToExpr(), axes[k].get())) return false;
    }
    if (k > 0 && (load.indices[first + k].get() != axes[k].get() ||
                  ConstExtent(shape[first + k]) != ConstExtent(extents[k]))) {
      return false;
    }
  }
  return true;
}

// Whether one axis through all terms of a reduction reads on where rows end,
// which are no whole number of vectors.
bool ReadsOnAtRowEnds(const Stage& stage, int64_t lanes) {
  const std::vector<tir::VarPtr>& axes = stage.op().reduce_axis;
  const std::vector<Expr>& extents = stage.op().reduce_extent;
  if (axes.size() < 2 ||
      !std::all_of(extents.begin(), extents.end(),
                   [](const Expr& e) { return ConstExtent(e).has_value(); }) ||
      *ConstExtent(extents.back()) % lanes == 0) {
    return false;
  }
  const std::vector<const tir::Load*> loads = LoadsOf(stage.op().value);
  return std::all_of(loads.begin(), loads.end(), [&](const tir::Load* load) {
    return std::none_of(axes.begin(), axes.end(),
                        [&](const tir::VarPtr& axis) {
                          return DependsOn(*load, axis.get());
                        }) ||
           ReadsInOrder(*load, axes, extents);
  });
}

std::vector<Stage*> ReduceInVectors(Schedule* schedule, Stage* stage,
                                    const MachineModel& machine) {
  const int64_t partials =
      ReductionLanes(GuessExtent(stage->op().reduce_extent.back()),
                     LanesFor(*stage, machine.ForSums()));
  if (partials == 0 ||
      !IsContiguous(stage, stage->op().reduce_axis.back().get())) {
    return {};
  }
  if (ReadsOnAtRowEnds(*stage, partials)) schedule->JoinReduceAxes(stage);
  std::vector<Stage*> made = schedule->SplitReduction(stage, partials);
  std::vector<Stage*> of_tail;
  for (Stage* part : made) {
    if (part->axes().size() == stage->axes().size()) {
      // The tail may be several vectors long.
      if (ConstExtent(part->op().reduce_extent.back())) {
        of_tail = ReduceInVectors(schedule, part, machine);
      }
      continue;
    }
    auto [o, i] =
        part->Split(part->axes().back(),
                    LanesAtOnce(*part, part->output().shape().back(), machine));
    part->Unroll(o);
    part->Vectorize(i);
    if (!part->IsReduce()) continue;
    std::vector<Loop> order(part->axes().begin(), part->axes().end() - 1);
    for (Loop reduce : part->reduce_axes()) order.push_back(reduce);
    order.push_back(o);
    order.push_back(i);
    part->Reorder(order);
  }
  made.insert(made.end(), of_tail.begin(), of_tail.end());
  return made;
}

void ReduceRows(Stage* stage, std::vector<Loop> outer, Loop columns,
                int64_t lanes) {
  // Sums of so many rows are added to what was loaded before it is stored.
  constexpr int64_t kRows = 4;
  const auto [vector, lane] = stage->Split(columns, lanes);
  const auto [rows, row] = stage->Split(stage->reduce_axes().back(), kRows);
  outer.insert(outer.end(), stage->reduce_axes().begin(),
               stage->reduce_axes().end() - 1);
  outer.insert(outer.end(), {rows, vector, row, lane});
  stage->Reorder(outer);
  stage->Unroll(row);
  stage->Vectorize(lane);
}

void PrefetchWeights(Stage* product, Loop loop, const MachineModel& machine,
                     bool in_turns, int64_t least_rows) {
  // Scalar code is slower than memory.
  if (machine.vector_bits == 0) return;
  // A network's other kernels need the rest of the cache.
  constexpr int64_t kLeastPart = 8;
  // Of 512 to 16384, tried on Zen 3, none was faster.
  constexpr int64_t kBytesAhead = 4096;
  const tir::Var* column = product->op().axis.back().get();
  std::set<tir::Buffer> weights;
  for (const tir::Load* load : LoadsOf(product->op().value)) {
    if (!DependsOn(*load, column) || !weights.insert(load->buffer).second) {
      continue;
    }
    int64_t bytes = load->buffer->dtype.bytes();
    for (const Expr& extent : load->buffer->shape) bytes *= GuessExtent(extent);
    if (bytes > machine.l2_bytes / kLeastPart) {
      const Tensor input{load->buffer};
      if (in_turns) {
        product->PrefetchInTurns(input, loop, kBytesAhead, least_rows);
      } else {
        product->Prefetch(input, loop, kBytesAhead, least_rows);
      }
    }
  }
}

int SpecializeConditions(Stage* stage) {
  const int rank = static_cast<int>(stage->axes().size());
  int first = rank;
  for (int i = rank - 1; i >= 0; --i) {
    const size_t cuts = CountCuts(*stage, i);
    if (cuts == 0 || cuts > kMaxCuts) continue;
    stage->Specialize(stage->axis(i));
    first = i;
  }
  return first;
}

ResultTiles CutIntoTiles(Stage* out, int row_axis, int64_t rows_of_block,
                         RegisterTile tile, int64_t lanes) {
  const int last = static_cast<int>(out->axes().size()) - 1;
  ResultTiles tiles;
  Loop rows = out->axis(row_axis);
  std::vector<Loop> order;
  for (int i = 0; i < last; ++i) {
    if (i != row_axis) order.push_back(out->axis(i));
  }
  const int64_t all = GuessExtent(out->output().shape()[row_axis]);
  if (all > 2 * rows_of_block) {
    const auto [block, inner] =
        out->Split(rows, RowsOfEvenBlock(all, rows_of_block, tile.rows));
    tiles.row_block = block;
    rows = inner;
    order.push_back(block);
  }
  const auto [row_tile, row] = out->Split(rows, tile.rows);
  const auto [column_tile, column] =
      out->Split(out->axis(last), tile.vectors * lanes);
  const auto [vector, lane] = out->Split(column, lanes);
  order.insert(order.end(), {column_tile, row_tile, row, vector, lane});
  out->Reorder(order);
  out->Unroll(row);
  out->Unroll(vector);
  out->Vectorize(lane);
  tiles.columns = column_tile;
  tiles.rows = row_tile;
  return tiles;
}

void ScheduleElementwise(Stage* stage, const MachineModel& machine) {
  const int rank = static_cast<int>(stage->axes().size());
  if (rank == 0) return;
  const int64_t lanes = LanesFor(*stage, machine);
  const auto& shape = stage->output().shape();
  const int64_t work = GuessWork(stage) * ValueCost(stage->op().value);
  const bool parallel = work >= kParallelWork && !stage->IsAttached();
  // A fused axis cannot be cut, so the first one with conditions ends what is
  // fused.
  const int cut = SpecializeConditions(stage);
  const int64_t row = GuessExtent(shape[rank - 1]);
  Loop last = stage->axis(rank - 1);
  if (TakesVectors(*stage, lanes)) {
    auto [outer, inner] =
        stage->Split(last, LanesAtOnce(*stage, shape[rank - 1], machine));
    stage->Vectorize(inner);
    last = outer;
  }
  const int64_t outer = LikelyIterations(*stage, std::min(cut, rank - 1));
  if (parallel && cut >= kRows && SharesRows(*stage)) {
    ShareImage(stage, cut);
  } else if (parallel && outer < kEnoughToShare && cut >= rank - 1) {
    stage->Parallel(last);  // few long rows: threads share each row
  } else if (parallel && outer < kEnoughToShare) {
    stage->Parallel(stage->axis(cut));
  } else {
    const int axes =
        AxesToFuse(*stage, std::min(cut, rank - 1), CeilDiv(row, lanes));
    FuseParallel(stage, axes, parallel);
  }
}

}  // namespace ingot::te::cpu
