// The stages of a convolution by Winograd's algorithm (relay/ops/winograd.cc),
// and the loops that its templates share.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_WINOGRAD_STAGES_H_
#define INGOT_COMPILER_SCHEDULES_CPU_WINOGRAD_STAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/machine/machine_model.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/te/schedule.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::cpu {

// The stages of one convolution, in the order of its data.
struct WinogradStages {
  Stage* pad = nullptr;   // null: none
  Stage* rows = nullptr;  // B^T d
  Stage* tiles = nullptr;
  Stage* products = nullptr;
  Stage* back = nullptr;    // A^T y
  Stage* result = nullptr;  // with what is fused
};

// Nothing where the kernel was changed into another form.
std::optional<WinogradStages> FindWinogradStages(const Schedule& schedule,
                                                 const Stage& products);

// Whether the stage makes such products for tiles of so many dimensions: rows
// and columns, or one where only a run knows how many tiles there are.
bool IsWinograd(const ScheduleSite& site, size_t dimensions);

// The sizes on which the order of the loops depends.
struct WinogradProblem {
  WinogradProblem(const WinogradStages& stages, const MachineModel& machine);

  int64_t tile, points;  // m, (m + 2)^2
  int64_t input_channels, block, blocks, lanes;
  int64_t element;  // bytes
};

// Products that are larger do not stay on the stack, where there must be some
// room for what is transformed back.
inline constexpr int64_t kMostProductBytes = 184 << 10;

// The values of `vectors` for a tile of registers, of so many blocks of output
// channels.
std::vector<int64_t> WinogradVectors(int64_t blocks, int64_t block,
                                     int64_t lanes);

// Loops of the products around a tile of registers whose own loops over places
// are `inside`, with those around all such tiles, `outside`, in order.
void ScheduleWinogradProducts(Stage* products, const std::vector<Loop>& outside,
                              const std::vector<Loop>& inside,
                              RegisterTile tile, int64_t lanes,
                              const MachineModel& machine);

// Loops of A^T y, one tile's at a time.
void ScheduleWinogradBack(Stage* back, int64_t lanes);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_WINOGRAD_STAGES_H_
