// Layouts of tensors that the templates of this folder like best.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_LAYOUTS_H_
#define INGOT_COMPILER_SCHEDULES_CPU_LAYOUTS_H_

#include <cstdint>

#include "compiler/machine/machine_model.h"
#include "compiler/target/layout_preferences.h"
#include "runtime/data_type.h"

namespace ingot::te::cpu {

// The channel block b of *_nchwc tensors of type t: a vector, but at least 4.
int64_t ChannelBlock(const MachineModel& machine, DataType t);

// A product by a constant matrix. Rows of the result that are not known are 0.
struct ProductSizes {
  int64_t rows = 0, columns = 0;
  int64_t column_bytes = 0;  // of the matrix
};

// The panel width nr of dense_packed weights, for results of type t: as many
// vectors as a register tile has, or as the columns fill; fewer where several
// tiles share panels that would be too long (IsPanelNear).
int64_t PanelWidth(const MachineModel& machine, DataType t,
                   const ProductSizes& sizes);

// The panels of the matrix of a recurrent layer with so many units: as many
// accumulators as hide the latency of a multiply-add, in whole vectors that
// divide the units; none where there are none.
PanelShape StepPanel(const MachineModel& machine, DataType t, int64_t units);

// The sizes of a 3x3 convolution: channels, the extents of the result, and
// dilations, whose grids are images of their own.
struct WinogradSizes {
  int64_t in = 0, out = 0;
  int64_t height = 0, width = 0;
  int64_t dilation_y = 1, dilation_x = 1;
  int64_t word = 1;  // input channels that one instruction multiplies
};
// The m of the m x m results of a tile, 2 or 4, by which Winograd's algorithm
// should take the fewest cycles; 0 where the definition does.
int64_t WinogradTile(const MachineModel& machine, const WinogradSizes& sizes);

// The same as what passes ask (TargetKind::layouts).
LayoutPreferences CpuLayouts(const MachineModel& machine);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_LAYOUTS_H_
