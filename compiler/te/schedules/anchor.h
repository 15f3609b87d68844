// An anchor (a convolution, a product of matrices) with the element-wise
// operations behind it.
#ifndef INGOT_COMPILER_TE_SCHEDULES_ANCHOR_H_
#define INGOT_COMPILER_TE_SCHEDULES_ANCHOR_H_

#include "compiler/target/target.h"
#include "compiler/te/schedule.h"

namespace ingot::te {

// `accumulator` reduces; `result` has the same axes, reads it at its own
// indices, and does the rest (bias, activation, residual) while the tile is in
// registers.
struct Anchor {
  Stage* accumulator;
  Stage* result;
};

// Finds the result of `stage`: its only reader where that fits, or itself with
// a new accumulator before it.
Anchor MakeAnchor(Schedule* schedule, Stage* stage);

// Register tiles: rows of broadcast elements by columns of vectors.
struct RegisterTile {
  int64_t rows = 1;
  int64_t vectors = 1;
};

// The tile for a long product, rows and columns of any number: accumulators,
// the vectors of one step and a broadcast element fit the register file, and
// there are enough independent chains to hide the latency of a multiply-add.
RegisterTile MatmulTile(const CpuModel& cpu, int64_t max_vectors = 4);
// The rows that go with a given number of vectors.
int64_t MatmulRows(const CpuModel& cpu, int64_t vectors);

// The tile for a convolution: stretches of `rows` elements (the output's width)
// by `vectors` vectors of output channels. The one whose whole number of tiles
// takes the fewest cycles by a simple model of the processor. Its vectors
// divide `vectors` unless `uneven`.
RegisterTile ConvTile(const CpuModel& cpu, int64_t rows, int64_t vectors,
                      bool uneven);

// One family each. The stage carries the tag of that name.
void ScheduleMatmul(Schedule* schedule, Stage* stage, const CpuModel& cpu);
void ScheduleConv2dNchwc(Schedule* schedule, Stage* stage, const CpuModel& cpu);
void ScheduleConv2dNchw(Schedule* schedule, Stage* stage, const CpuModel& cpu);
// depthwise_nchwc and pool2d.
void ScheduleWindow(Schedule* schedule, Stage* stage, const CpuModel& cpu);

// The padding that only `reader` reads; null when there is none.
Stage* FindPad(const Schedule& schedule, const Stage* reader);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_SCHEDULES_ANCHOR_H_
