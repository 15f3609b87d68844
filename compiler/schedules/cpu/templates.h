// The templates for processors with vectors, threads and caches.
//
// To add one: a file here with a function `ScheduleTemplate MyFamily()` in
// namespace ingot::te::cpu, and the line "my_family" in BUILD.bazel, which
// makes the list.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_TEMPLATES_H_
#define INGOT_COMPILER_SCHEDULES_CPU_TEMPLATES_H_

#include <vector>

#include "compiler/te/schedule_template.h"

namespace ingot::te::cpu {

// All of them, in the order of BUILD.bazel.
std::vector<ScheduleTemplate> CpuTemplates();

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_TEMPLATES_H_
