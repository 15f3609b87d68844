// The templates that use blocks of threads: shared memory, registers, barriers.
//
// To add one: a file here with a function `ScheduleTemplate MyFamily()` in
// namespace ingot::te::gpu, and the line "my_family" in BUILD.bazel, which
// makes the list.
#ifndef INGOT_COMPILER_SCHEDULES_GPU_BLOCKS_TEMPLATES_H_
#define INGOT_COMPILER_SCHEDULES_GPU_BLOCKS_TEMPLATES_H_

#include <vector>

#include "compiler/te/schedule_template.h"

namespace ingot::te::gpu {

// All of them, in the order of BUILD.bazel. No target lists them yet.
std::vector<ScheduleTemplate> BlockTemplates();

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_BLOCKS_TEMPLATES_H_
