// Operators on sequences as steps of a run.
#ifndef INGOT_COMPILER_RELAY_SEQUENCE_STEP_H_
#define INGOT_COMPILER_RELAY_SEQUENCE_STEP_H_

#include "compiler/relay/ir.h"
#include "runtime/tensor_sequence.h"

namespace ingot::relay {

// The executor's step for `node`, for which TakesSequences holds.
SequenceStep SequenceStepOf(const Node& node);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_SEQUENCE_STEP_H_
