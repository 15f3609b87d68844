// Decides which compute stages have no loops of their own.
#ifndef INGOT_COMPILER_SCHEDULES_INLINING_H_
#define INGOT_COMPILER_SCHEDULES_INLINING_H_

#include "compiler/machine/machine_model.h"
#include "compiler/te/schedule.h"

namespace ingot::te {

// Inlines the compute stages that cost little where they are read: evaluated
// there, unless that repeats much work or makes much code.
void InlineCheap(Schedule* schedule, const MachineModel& machine);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_SCHEDULES_INLINING_H_
