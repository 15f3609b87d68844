// Loops of transpositions: of operations whose last axis goes through what they
// read in steps, while another axis goes from neighbour to neighbour. Blocks of
// both axes use whole lines of memory on both sides. They are written out as
// vectors along the last axis, one for each place along the other, which a code
// generator may make from vectors along the other.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_TRANSPOSITION_H_
#define INGOT_COMPILER_SCHEDULES_CPU_TRANSPOSITION_H_

#include "compiler/machine/machine_model.h"
#include "compiler/te/schedule.h"

namespace ingot::te::cpu {

// Whether the operation is one, and the machine has vectors.
bool IsTransposition(const Stage& stage, const MachineModel& machine);

// Makes the loops of a transposition; threads share them at the root.
void ScheduleTransposition(Stage* stage, const MachineModel& machine);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_TRANSPOSITION_H_
