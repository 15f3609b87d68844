// Helpers that templates for devices share. Private to this folder.
#ifndef INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_
#define INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "compiler/machine/machine_model.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule.h"

namespace ingot::te::gpu {

// The cost of values that do not go together.
inline constexpr double kImpossible = std::numeric_limits<double>::infinity();

// Bytes that a thread copies at once.
inline constexpr int64_t kBytesAtOnce = 16;

// Terms that a unit of a warp sums at once.
inline constexpr int64_t kUnitTerms = 16;

// Whether units of warps multiply elements of that type.
bool UnitsMultiply(const MachineModel& machine, DataType type);

// Neither the result nor the terms of it have symbolic dimensions.
bool HasConstantExtents(const Stage& stage);

// Whether `run` neighbours along `axis`, which `load` reads one after the
// other, lie at a multiple of so many elements.
bool InAlignedRuns(const tir::Load& load, const tir::VarPtr& axis, int64_t run);

// Returns how long so many threads of one core take, each of which adds up so
// many terms that come from memory, in cycles of one lane.
double TermsCycles(int64_t threads, int64_t terms);

// A thread's neighbours in a row or column, which it reads at once; beyond them
// the other threads' come first, so that they do not read the same banks.
inline constexpr int64_t kRun = 4;

// Elements of a row of memory that neighbouring threads copy.
inline constexpr int64_t kTermsTogether = 8;

// An extent as it is where tiles of that size cover it, sticking out at its
// end; one that no tile fits in stays.
int64_t RoundedUp(int64_t extent, int64_t tile);

// These count what a block takes beside its multiply-adds, in those of a
// multiprocessor: to begin and to wait for each step, and to have other blocks'
// parts joined with its own by a second kernel, which reads so many bytes.
double WaitsOf(int64_t steps);
double JoinOf(int64_t bytes);

// One loop over all points of a result.
Loop FuseAxes(Stage* stage);

// The one stage that reads a reduction, where it is an output of the kernel
// that reads element by element what it writes and has no loops of a template's
// yet; null where there is none.
Stage* OnlyReader(const Schedule& schedule, const Stage& stage);

// A reduction, and the stage that stores its result.
struct Anchor {
  Stage *acc, *out;
};

// The only reader stores it (OnlyReader), or else `stage` does, which then
// reads a new stage that reduces.
Anchor MakeAnchor(Schedule* schedule, Stage* stage);

// Puts what `stage` copies from others into the only reader, if there is one,
// and returns that, or else `stage`.
Stage* JoinInto(Schedule* schedule, Stage* stage);

// Puts padding where `reader` reads it, if nothing else does, rather than into
// memory.
void InlinePadding(const Schedule& schedule, const Stage& reader);

// Returns how many blocks a multiprocessor computes, one after the other. The
// last ones have it to themselves, and are faster for that.
double Turns(int64_t blocks, int64_t cores);

// How many terms a reduction has, symbols guessed.
int64_t TermsOf(const Stage* reduction);

// Makes a sum of floats one of sums of blocks, each of about as many terms as
// there are blocks: one chain of additions loses digits.
void SumInBlocks(Stage* sum);

// Cuts the loops of a stage, taken as one in that order, into steps of so many
// threads, which take neighbouring iterations. Returns the loop over steps,
// which each thread runs.
Loop ShareAmongThreads(Stage* stage, const std::vector<Loop>& order,
                       int64_t threads);

// One side of a tile: `threads` threads take runs of neighbours, one after the
// other, and then again until each has its part.
struct TileSide {
  Loop loop;
  int64_t part, run, threads;
  // So many of the threads are neighbours in a warp; 0: as they come.
  int64_t warp = 0;
  // These take so many runs each, in turns, before the next neighbours do.
  int64_t turns = 1;
  // Pairs of those that read the same of the last side come one after the
  // other: then half of a warp reads all of its columns at once.
  bool in_pairs = true;
  bool is_even = false;  // all threads have all of each run

  int64_t extent() const { return part * threads; }
};

// Cuts the sides of a tile into parts of threads. The stage's loops are then
// `outer`, threads, `inner`, and those over a part. What the last side is even
// in is vectors. Returns the threads' loop.
Loop CutTile(Stage* stage, const std::vector<TileSide>& sides,
             std::vector<Loop> outer, const std::vector<Loop>& inner);

// Keeps a tile's sums in the registers of the threads that CutTile gives them:
// `sides` by the axes of `acc`.
void KeepTile(Stage* acc, const std::map<size_t, TileSide>& sides);

// So many accesses of shared memory a multiply-add waits for, where a thread
// has a part of so many rows and columns, in runs of kRun.
double SharedReads(double row_loads, double column_loads, int64_t elements);

// The thread that runs an iteration of `loop` makes the reduction `acc`, which
// `reader` reads there, in registers.
void ReduceAt(Stage* acc, Stage* reader, Loop loop);

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_
