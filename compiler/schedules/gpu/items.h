// Helpers that templates for devices share. Private to this folder.
#ifndef INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_
#define INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_

#include <cstdint>

#include "compiler/te/schedule.h"

namespace ingot::te::gpu {

// One loop over all points of a result.
Loop FuseAxes(Stage* stage);

// The one stage that reads a reduction, where it is an output of the kernel
// that reads element by element what it writes and has no loops of a template's
// yet; null where there is none.
Stage* OnlyReader(const Schedule& schedule, const Stage& stage);

// How many terms a reduction has, symbols guessed.
int64_t TermsOf(const Stage* reduction);

// Makes a sum of floats one of sums of blocks, each of about as many terms as
// there are blocks: one chain of additions loses digits.
void SumInBlocks(Stage* sum);

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_ITEMS_H_
