// Helpers that templates for devices share. Private to this folder.
#ifndef INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_
#define INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_

#include "compiler/te/schedule.h"

namespace ingot::te::gpu {

// One loop over all points of a result.
Loop FuseAxes(Stage* stage);

// The one stage that reads a reduction, where it is an output of the kernel
// that reads element by element what it writes; null where there is none.
Stage* OnlyReader(const Schedule& schedule, const Stage& stage);

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_
