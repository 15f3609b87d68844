// Layouts of tensors that the templates of this folder like best.
#ifndef INGOT_COMPILER_SCHEDULES_GPU_LAYOUTS_H_
#define INGOT_COMPILER_SCHEDULES_GPU_LAYOUTS_H_

#include "compiler/machine/machine_model.h"
#include "compiler/target/layout_preferences.h"

namespace ingot::te::gpu {

// Convolutions that units of warps multiply run on all channels in one block,
// [h, w, c] and weights [h, w, i, o]: their operands are then copied 16 bytes
// at a time. Others stay as they are.
LayoutPreferences GpuLayouts(const MachineModel& machine);

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_LAYOUTS_H_
