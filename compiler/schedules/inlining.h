// Decides which compute stages have no loops of their own, whatever the
// machine.
#ifndef INGOT_COMPILER_SCHEDULES_INLINING_H_
#define INGOT_COMPILER_SCHEDULES_INLINING_H_

#include "compiler/te/schedule.h"

namespace ingot::te {

// Inlines the compute stages that cost little where they are read: evaluated
// there, unless that repeats much work or makes much code.
void InlineCheap(Schedule* schedule);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_SCHEDULES_INLINING_H_
