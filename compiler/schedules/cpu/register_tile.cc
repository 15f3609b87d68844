#include "compiler/schedules/cpu/register_tile.h"

#include <algorithm>
#include <limits>

namespace ingot::te::cpu {
namespace {

// Multiply-adds a cycle, cycles until one's result can be added to, loads a
// cycle: the figures of the larger x86 and Arm cores for years.
constexpr double kFmaPerCycle = 2;
constexpr double kFmaLatency = 4;
constexpr double kLoadsPerCycle = 2;

constexpr double kImpossible = std::numeric_limits<double>::infinity();

int64_t RegistersOf(RegisterTile tile) {
  // A vector that meets a single row is gone before the next is loaded.
  const int64_t loaded = tile.rows == 1 ? 1 : tile.vectors;
  return tile.rows * tile.vectors + loaded + 1;
}

}  // namespace

bool FitsRegisters(const MachineModel& machine, RegisterTile tile) {
  return RegistersOf(tile) <= machine.vector_registers;
}

bool FillsRegisters(const MachineModel& machine, RegisterTile tile) {
  return RegistersOf(tile) >= machine.vector_registers;
}

double StepCycles(RegisterTile tile) {
  const double fma = tile.rows * tile.vectors / kFmaPerCycle;
  const double loads = (tile.rows + tile.vectors) / kLoadsPerCycle;
  return std::max({fma, loads, kFmaLatency});
}

double ProductCycles(const MachineModel& machine, RegisterTile tile) {
  if (!FitsRegisters(machine, tile)) return kImpossible;
  const double products = static_cast<double>(tile.rows * tile.vectors);
  // Loads overlap with multiplications: they decide between tiles that are
  // equally fast otherwise.
  constexpr double kPerLoad = 0.01;
  return StepCycles(tile) / products +
         kPerLoad * ((tile.rows + tile.vectors) / products);
}

double SpareProductCycles(const MachineModel& machine, RegisterTile tile) {
  // More than a smaller tile's loads cost, less than its idle multipliers.
  const double spilling = FillsRegisters(machine, tile) ? 1.004 : 1;
  return ProductCycles(machine, tile) * spilling;
}

RegisterTile ProductTile(const MachineModel& machine) {
  RegisterTile best;
  double least = kImpossible;
  for (int64_t vectors = 1; vectors <= kMaxTileVectors; ++vectors) {
    for (int64_t rows = 1; rows <= kMaxTileRows; ++rows) {
      const double cycles = SpareProductCycles(machine, {rows, vectors});
      if (cycles < least) {
        least = cycles;
        best = {rows, vectors};
      }
    }
  }
  return best;
}

bool IsPanelNear(const MachineModel& machine, int64_t bytes) {
  return bytes <= machine.l2_bytes / 4;
}

bool IsWorthWritingOut(const MachineModel& machine, RegisterTile tile,
                       int64_t steps) {
  // More becomes too much code.
  constexpr int64_t kMostProducts = 128;
  // Of several steps LLVM loads elements early, into registers that it does not
  // have where each meets a single vector, or where it counts on many of them;
  // products that are added by another instruction need more, too.
  constexpr int kMostRegisters = 16;
  return machine.fma && machine.vector_registers <= kMostRegisters &&
         tile.vectors > 1 && steps * tile.rows * tile.vectors <= kMostProducts;
}

double PlaneCycles(const MachineModel& machine, int64_t rows, int64_t vectors,
                   RegisterTile tile, double load_cycles) {
  if (!FitsRegisters(machine, tile)) return kImpossible;
  const auto step_cycles = [load_cycles](RegisterTile part) {
    return std::max(StepCycles(part), part.vectors * load_cycles);
  };
  // One column of tiles, of so many vectors.
  auto column_cycles = [&](int64_t columns) {
    double cycles = (rows / tile.rows) * step_cycles({tile.rows, columns});
    const int64_t rest = rows % tile.rows;
    if (rest != 0) cycles += step_cycles({rest, columns});
    return cycles;
  };
  double cycles = (vectors / tile.vectors) * column_cycles(tile.vectors);
  const int64_t rest = vectors % tile.vectors;
  if (rest != 0) cycles += column_cycles(rest);
  // Fewer, larger tiles load the weights less often.
  return cycles * (1 + 0.02 / tile.rows);
}

}  // namespace ingot::te::cpu
