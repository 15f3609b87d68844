// Register tiles of products and convolutions, and what they cost by a simple
// model of a core.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_REGISTER_TILE_H_
#define INGOT_COMPILER_SCHEDULES_CPU_REGISTER_TILE_H_

#include <cstdint>

#include "compiler/machine/machine_model.h"

namespace ingot::te::cpu {

// Rows of broadcast elements by columns of vectors.
struct RegisterTile {
  int64_t rows = 1;
  int64_t vectors = 1;
};

// The most rows and vectors of a tile that are worth trying.
inline constexpr int64_t kMaxTileRows = 16;
inline constexpr int64_t kMaxTileVectors = 4;
// This many independent accumulators hide the latency of a multiply-add on
// every core that we know of, twice over.
inline constexpr int64_t kEnoughAccumulators = 24;

// Whether the accumulators, the vectors of one step and a broadcast element fit
// the register file.
bool FitsRegisters(const MachineModel& machine, RegisterTile tile);
// Whether they leave no register for the compiler's own needs.
bool FillsRegisters(const MachineModel& machine, RegisterTile tile);

// Cycles of one step of the reduction for a tile: a multiply-add for each of
// its vectors in each row.
double StepCycles(RegisterTile tile);

// Cycles for one multiply-add of a vector in a long product; of tiles that keep
// the multipliers busy, the one that loads least costs least. Infinite for a
// tile that does not fit.
double ProductCycles(const MachineModel& machine, RegisterTile tile);

// The tile for a long product with any number of rows and columns. Tiles that
// fill the register file cost more; of equals, the narrower wins, which wastes
// less at the edge.
RegisterTile ProductTile(const MachineModel& machine);
// The cost by which ProductTile chooses.
double SpareProductCycles(const MachineModel& machine, RegisterTile tile);

// Whether the second-level cache keeps a panel of so many bytes that several
// tiles read, and the next one, which they ask for meanwhile, beside the rows
// of the data.
bool IsPanelNear(const MachineModel& machine, int64_t bytes);

// Whether so many steps of the reduction should be written out, not a loop, for
// a tile of floats: steps then share the loop's tests and its end, which a
// processor may guess wrong, and the instructions for a product's addresses.
bool IsWorthWritingOut(const MachineModel& machine, RegisterTile tile,
                       int64_t steps);

// Returns the cycles that one step of the reduction takes for all of `rows`
// elements of an output's row by `vectors` vectors of output channels, in such
// tiles, the incomplete ones at both edges included, where loading a vector for
// a tile takes so many at least. Infinite for a tile that does not fit.
double PlaneCycles(const MachineModel& machine, int64_t rows, int64_t vectors,
                   RegisterTile tile, double load_cycles = 0);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_REGISTER_TILE_H_
