#include "compiler/te/schedules/anchor.h"

#include <algorithm>

#include "compiler/te/schedules/common.h"

namespace ingot::te {
namespace {

// Multiply-adds a cycle, cycles until one's result can be added to, loads a
// cycle: what the larger x86 and ARM cores have had for years.
constexpr double kFmaPerCycle = 2;
constexpr double kFmaLatency = 4;
constexpr double kLoadsPerCycle = 2;

// Cycles of one step of the reduction for a tile.
double StepCycles(int64_t rows, int64_t vectors) {
  const double fma = rows * vectors / kFmaPerCycle;
  const double loads = (rows + vectors) / kLoadsPerCycle;
  return std::max({fma, loads, kFmaLatency});
}

bool Fits(const CpuModel& cpu, int64_t rows, int64_t vectors) {
  return rows * vectors + vectors + 1 <= cpu.vector_registers;
}

}  // namespace

Anchor MakeAnchor(Schedule* schedule, Stage* stage) {
  std::vector<Stage*> readers = schedule->Readers(stage);
  if (!stage->is_output() && readers.size() == 1 && readers[0]->IsUntouched() &&
      ReadsAtOwnPoints(readers[0], stage)) {
    return {stage, readers[0]};
  }
  Stage* accumulator = schedule->CacheWrite(stage);
  return {accumulator, stage};
}

RegisterTile MatmulTile(const CpuModel& cpu, int64_t max_vectors) {
  RegisterTile best;
  double best_score = 0;
  for (int64_t vectors = 1; vectors <= max_vectors; ++vectors) {
    for (int64_t rows = 1; rows <= 16; ++rows) {
      if (!Fits(cpu, rows, vectors)) break;
      double score = rows * vectors / StepCycles(rows, vectors);
      // Among tiles that keep the multipliers busy, the one that loads least;
      // of equals, the narrower, which wastes less at the edge.
      score += 0.1 * rows * vectors / (rows + vectors);
      // A full register file leaves no room for the compiler's own needs.
      if (rows * vectors + vectors + 1 == cpu.vector_registers) score -= 0.2;
      if (score > best_score) {
        best_score = score;
        best = {rows, vectors};
      }
    }
  }
  return best;
}

int64_t MatmulRows(const CpuModel& cpu, int64_t vectors) {
  int64_t rows = 1;
  while (rows < 16 && rows * vectors < 12 * 2 && Fits(cpu, rows + 1, vectors)) {
    ++rows;
  }
  return rows;
}

RegisterTile ConvTile(const CpuModel& cpu, int64_t rows, int64_t vectors,
                      bool uneven) {
  RegisterTile best;
  double best_cycles = 0;
  for (int64_t v = 1; v <= 4 && v <= vectors; ++v) {
    if (vectors % v != 0 && !uneven) continue;
    // All columns of a stretch of `rows`, the rest of either kind included.
    auto row_cycles = [&](int64_t t, int64_t columns) {
      double cycles = (rows / t) * StepCycles(t, columns);
      if (rows % t != 0) cycles += StepCycles(rows % t, columns);
      return cycles;
    };
    for (int64_t t = 1; t <= rows; ++t) {
      if (!Fits(cpu, t, v)) break;
      double cycles = (vectors / v) * row_cycles(t, v);
      if (vectors % v != 0) cycles += row_cycles(t, vectors % v);
      // Fewer, larger tiles load the weights less often.
      cycles *= 1 + 0.02 / t;
      if (best_cycles == 0 || cycles < best_cycles) {
        best_cycles = cycles;
        best = {t, v};
      }
    }
  }
  return best;
}

}  // namespace ingot::te
