// Helpers that templates for devices share. Private to this folder.
#ifndef INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_
#define INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_

#include <cstdint>
#include <vector>

#include "compiler/te/schedule.h"

namespace ingot::te::gpu {

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Neither the result nor the terms of it have symbolic dimensions.
bool HasConstantExtents(const Stage& stage);

// Returns how long so many threads of one core take, each of which adds up so
// many terms that come from memory, in cycles of one lane.
double TermsCycles(int64_t threads, int64_t terms);

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

// Puts padding where `reader` reads it, if nothing else does, rather than into
// memory.
void InlinePadding(const Schedule& schedule, const Stage& reader);

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

// One side of a tile: the loop over it, and how much of it is a thread's.
struct TileSide {
  Loop loop;
  int64_t part;
};

// Cuts the sides of a tile into parts of threads. The stage's loops are then
// `outer`, threads, `inner`, and those over a part. Returns the threads' loop.
Loop CutTile(Stage* stage, const std::vector<TileSide>& sides,
             std::vector<Loop> outer, const std::vector<Loop>& inner);

// The thread that runs an iteration of `loop` makes the reduction `acc`, which
// `reader` reads there, in registers.
void ReduceAt(Stage* acc, Stage* reader, Loop loop);

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_
