#include "compiler/schedules/gpu/items.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "compiler/schedules/stage_facts.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::te::gpu {
namespace {

// A product whose operands come from memory takes as long as so many of
// registers.
constexpr double kFromMemory = 8;

// Fewer threads wait for memory as long as so many of them.
constexpr int64_t kEnoughThreads = 1024;

// A sum of so many terms is left alone.
constexpr int64_t kFewTerms = 32;

// Multiply-adds that a multiprocessor begins at once.
constexpr double kLanes = 128;

// The largest divisor of `extent` up to `most`, where it is at least half of
// that; otherwise `most`, which leaves something over.
int64_t BlockOf(int64_t extent, int64_t most) {
  for (int64_t block = most; 2 * block >= most; --block) {
    if (extent % block == 0) return block;
  }
  return most;
}

bool SameShape(const Tensor& a, const Tensor& b) {
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    int64_t extent = 0;
    if (!tir::AsConstInt(a.shape()[i], &extent) ||
        !tir::IsConstInt(b.shape()[i], extent)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool HasConstantExtents(const Stage& stage) {
  const auto known = [](const Expr& n) { return ConstExtent(n).has_value(); };
  const auto& shape = stage.output().shape();
  const auto& terms = stage.op().reduce_extent;
  return std::all_of(shape.begin(), shape.end(), known) &&
         std::all_of(terms.begin(), terms.end(), known);
}

bool UnitsMultiply(const MachineModel& machine, DataType type) {
  if (!type.is_float() || !machine.Has(MachineUnit::kWarpTiles)) return false;
  return type.bits == 16 || (type == DataType::Float(32) &&
                             machine.Has(MachineUnit::kTf32WarpTiles));
}

bool InAlignedRuns(const tir::Load& load, const tir::VarPtr& axis,
                   int64_t run) {
  if (AccessStride(load, axis.get()) != 1) return false;
  const std::optional<int64_t> row = ConstExtent(load.buffer->shape.back());
  const tir::Affine before =
      tir::ToAffine(load.indices.back()) - tir::Affine::Atom(axis);
  return row.has_value() && *row % run == 0 && before.IsMultipleOf(run);
}

double TermsCycles(int64_t threads, int64_t terms) {
  return WaitsOf(0) +
         kFromMemory * static_cast<double>(std::max(threads, kEnoughThreads)) *
             static_cast<double>(terms);
}

Loop FuseAxes(Stage* stage) {
  const std::vector<Loop> axes = stage->axes();
  return axes.size() == 1 ? axes[0] : stage->Fuse(axes);
}

Stage* OnlyReader(const Schedule& schedule, const Stage& stage) {
  const std::vector<Stage*> readers = schedule.Readers(&stage);
  if (readers.size() != 1 || !readers[0]->is_output() ||
      readers[0]->op().kind != OperationKind::kCompute ||
      !readers[0]->IsUntouched() ||
      !SameShape(readers[0]->output(), stage.output())) {
    return nullptr;
  }
  return readers[0];
}

Anchor MakeAnchor(Schedule* schedule, Stage* stage) {
  if (Stage* reader = OnlyReader(*schedule, *stage)) return {stage, reader};
  Stage* const acc = schedule->CacheWrite(stage);
  return {acc, stage};
}

Stage* JoinInto(Schedule* schedule, Stage* stage) {
  Stage* const reader = OnlyReader(*schedule, *stage);
  if (reader == nullptr) return stage;
  stage->ComputeInline();
  return reader;
}

void InlinePadding(const Schedule& schedule, const Stage& reader) {
  Stage* const pad = FindPad(schedule, reader);
  if (pad != nullptr && pad->IsUntouched()) pad->ComputeInline();
}

double Turns(int64_t blocks, int64_t cores) {
  const double all = static_cast<double>(blocks) / static_cast<double>(cores);
  return blocks <= cores ? 1 : (all + std::ceil(all)) / 2;
}

int64_t TermsOf(const Stage* reduction) {
  int64_t terms = 1;
  for (const Expr& extent : reduction->op().reduce_extent) {
    terms *= GuessExtent(extent);
  }
  return terms;
}

void SumInBlocks(Stage* sum) {
  const Operation& op = sum->op();
  if (!op.reducer.is_sum || !sum->output().dtype().is_float()) return;
  const int64_t terms = TermsOf(sum);
  if (terms <= kFewTerms) return;
  int64_t block = 1;
  while (block * block < terms) block *= 2;
  // The innermost loops that have enough terms together.
  int64_t inside = 1;
  for (size_t i = op.reduce_axis.size(); i-- > 0;) {
    const int64_t extent = GuessExtent(op.reduce_extent[i]);
    if (inside * extent < block) {
      inside *= extent;
      continue;
    }
    const int64_t size = BlockOf(extent, std::max<int64_t>(1, block / inside));
    auto [outer, inner] =
        sum->Split(sum->reduce_axis(static_cast<int>(i)), size);
    sum->ReduceApartAt(outer);
    return;
  }
}

Loop ShareAmongThreads(Stage* stage, const std::vector<Loop>& order,
                       int64_t threads) {
  stage->Reorder(order);
  auto [step, thread] = stage->Split(stage->Fuse(order), threads, Tail::kGuard);
  stage->Reorder({thread, step});
  stage->Thread(thread);
  return step;
}

Loop CutTile(Stage* stage, const std::vector<TileSide>& sides,
             std::vector<Loop> outer, const std::vector<Loop>& inner) {
  std::vector<Loop> far, near, pairs, rounds, runs;
  for (const TileSide& side : sides) {
    Loop loop = side.loop;
    if (side.run * side.turns < side.part) {
      const auto [round, rest] = stage->Split(
          loop, side.threads * side.run * side.turns, Tail::kGuard);
      rounds.push_back(round);
      loop = rest;
    }
    const auto [thread, own] = stage->Split(loop, side.run, Tail::kGuard);
    runs.push_back(own);
    if (side.warp == 0) {
      near.push_back(thread);
      continue;
    }
    auto [group, neighbour] = stage->Split(thread, side.warp, Tail::kExact);
    if (side.turns > 1) {
      const auto [outer, turn] = stage->Split(group, side.turns, Tail::kExact);
      group = outer;
      rounds.push_back(turn);
    }
    far.push_back(group);
    near.push_back(neighbour);
    if (&side == &sides.back() || !side.in_pairs) continue;
    const auto [pair, one] = stage->Split(neighbour, 2, Tail::kExact);
    near.back() = pair;
    pairs.push_back(one);
  }
  std::vector<Loop> threads = far, order = std::move(outer);
  threads.insert(threads.end(), near.begin(), near.end());
  threads.insert(threads.end(), pairs.begin(), pairs.end());
  for (const std::vector<Loop>& loops : {threads, inner, rounds, runs}) {
    order.insert(order.end(), loops.begin(), loops.end());
  }
  stage->Reorder(order);
  const Loop thread = stage->Fuse(threads);
  stage->Thread(thread);
  for (const Loop part : rounds) stage->Unroll(part);
  for (const Loop part : runs) stage->Unroll(part);
  if (sides.back().is_even) stage->Vectorize(runs.back());
  return thread;
}

void KeepTile(Stage* acc, const std::map<size_t, TileSide>& sides) {
  std::vector<ThreadShare> shares(acc->axes().size());
  for (ThreadShare& share : shares) share.threads = 1;
  for (const auto& [axis, side] : sides) {
    const int64_t group = side.turns > 1 ? side.warp : 1;
    shares[axis] = {side.run, side.threads, group, side.turns};
  }
  acc->KeepInRegisters(std::move(shares));
}

double SharedReads(double row_loads, double column_loads, int64_t elements) {
  // A multiprocessor does four multiply-adds while it reads one row of banks.
  const double reads =
      4 * (row_loads + column_loads) / static_cast<double>(elements);
  return reads <= 1 ? 1 + 0.4 * reads : 1.4 * reads;
}

int64_t RoundedUp(int64_t extent, int64_t tile) {
  return extent <= tile ? extent : CeilDiv(extent, tile) * tile;
}

double WaitsOf(int64_t steps) {
  return kLanes * (1500 + 80 * static_cast<double>(steps));
}

double JoinOf(int64_t bytes) {
  constexpr double kBytesPerCycle = 1200;
  return kLanes * (3500 + static_cast<double>(bytes) / kBytesPerCycle);
}

void ReduceAt(Stage* acc, Stage* reader, Loop loop) {
  acc->ComputeAt(reader, loop);
  SumInBlocks(acc);
}

}  // namespace ingot::te::gpu
