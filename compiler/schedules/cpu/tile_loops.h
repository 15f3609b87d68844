// Loops that multiply by registers of tiles: what their templates share.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_TILE_LOOPS_H_
#define INGOT_COMPILER_SCHEDULES_CPU_TILE_LOOPS_H_

#include <cstdint>

#include "compiler/machine/machine_model.h"
#include "compiler/te/schedule.h"

namespace ingot::te::cpu {

constexpr int64_t kTile = 16;            // rows, columns and words of a tile
constexpr int64_t kBytesOfTileRow = 64;  // of one part

// Rows are also split by this, so that those which an unknown number of them
// leaves over are not taken one by one.
constexpr int64_t kRowsOfTail = 4;

// The bf16 parts of the numbers that `acc` multiplies (tags.h).
int64_t NumberOfParts(const Stage& acc);

// Whether `acc` multiplies bytes, in words along its last reduce axis, not bf16
// parts of numbers.
bool MultipliesWords(const Stage& acc);

// Loops for the stage that splits the data that `acc` reads, made before it.
void ScheduleParts(const Schedule& schedule, const Stage& acc,
                   const MachineModel& machine);

// Makes the reduce loops of `acc` and the given loops, which need the others
// inside of them, one multiplication. Over the elements of a row are the last
// two reduce axes; of words the last one, or a part of it where there is no
// other.
void TensorizeTiles(Stage* acc, Loop rows, Loop column_tiles, Loop columns);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_TILE_LOOPS_H_
