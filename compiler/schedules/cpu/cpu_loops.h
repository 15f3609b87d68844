// Loops for a processor with vectors, threads and caches: what its templates
// share.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_CPU_LOOPS_H_
#define INGOT_COMPILER_SCHEDULES_CPU_CPU_LOOPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/machine/machine_model.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/te/schedule.h"

namespace ingot::te::cpu {

// Below this many scalar operations, waking another thread costs more than it
// saves.
inline constexpr int64_t kParallelWork = 1 << 16;

// Lanes of the stage's own element type, at least 1.
int64_t LanesFor(const Stage& stage, const MachineModel& machine);

// Lanes of a loop along `extent` neighbours: of several vectors where each step
// of a long computation would wait for the one before, as in exponentials.
int64_t LanesAtOnce(const Stage& stage, const Expr& extent,
                    const MachineModel& machine);

// Fuses the first `count` leaves and makes the result parallel if told to.
// Returns the fused loop (none when count is 0).
std::optional<Loop> FuseParallel(Stage* stage, int count, bool parallel);

// Iterations of the loop over an axis that threads can count on. Where only a
// run knows the first of an image's, it is a batch, and most often one.
int64_t LikelyExtent(const Stage& stage, int axis);

// Whether threads share the rows of an image in channel blocks (n, c, y, x,
// block): the kernel after it reads all channels of a few rows, and finds there
// what its own thread wrote. Images of few rows have more channels to share.
bool SharesRows(const Stage& stage);

// Rows of such an image that a thread makes of one channel after the other,
// where there are about so many parts of them.
int64_t RowsOfShare(const Stage& stage, int64_t shares);

// Makes a reduction along contiguous elements run in as many vectors of partial
// results as hide the latency of an addition, and arranges their loops. Returns
// the stages made, as Schedule::SplitReduction does; none where the reduction
// stays as it is.
std::vector<Stage*> ReduceInVectors(Schedule* schedule, Stage* stage,
                                    const MachineModel& machine);

// Makes a reduction whose neighbouring results read neighbours reduce `columns`
// of them, its leaf inside of those in `outer`, side by side: a few rows at a
// time, as they lie in memory, so that each is read once from end to end.
void ReduceRows(Stage* stage, std::vector<Loop> outer, Loop columns,
                int64_t lanes);

// So many results of such a reduction stay in the nearest cache.
inline constexpr int64_t kColumnsAtOnce = 1024;

// Asks for the weights of a product, which are the operands that depend on the
// last of its axes, before iterations of the reduce loop `loop` need them: a
// processor's own guesses end at each page, and memory is slower than the
// products of a few rows. Those that stay in the second-level cache from run to
// run are near enough as they are, and so are those that fewer rows than
// `least_rows` use.
// With `in_turns`, tiles that are made of the same weights one after the other
// share the requests for the next ones (Stage::PrefetchInTurns).
void PrefetchWeights(Stage* product, Loop loop, const MachineModel& machine,
                     bool in_turns = false, int64_t least_rows = 1);

// Loops of a result that is cut into register tiles: of blocks of rows, where
// there are more than two of them, of tiles along the last axis, and of tiles
// of rows, innermost.
struct ResultTiles {
  std::optional<Loop> row_block;
  Loop columns, rows;
};

// Cuts a result whose rows are the axis `row_axis`; a tile's rows and vectors
// are written out. A block has `rows_of_block` at most, fewer where threads
// that share the blocks would not have equal shares.
ResultTiles CutIntoTiles(Stage* out, int row_axis, int64_t rows_of_block,
                         RegisterTile tile, int64_t lanes);

// Cuts every axis on which the value has conditions. Returns the first such
// axis, or the rank.
int SpecializeConditions(Stage* stage);

// Loops for a compute stage at the root or attached: outer loops fused (and
// parallel, when at the root and worth it), the innermost in vectors.
void ScheduleElementwise(Stage* stage, const MachineModel& machine);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_CPU_LOOPS_H_
