#ifndef INGOT_RUNTIME_PLAN_PHASES_H_
#define INGOT_RUNTIME_PLAN_PHASES_H_

#include "runtime/plan/plan.pb.h"

namespace ingot {

// Fills in the phases of a plan whose symbols, tensors, storage and calls are
// there: Plan.phases, and the field `phase` of tensors, storage and
// requirements, each as early as it can be. Its bodies are left alone. A tensor
// whose place is not set yet counts as if it had one that is known from the
// start.
//
// For those who make plans. Loading only checks what a plan says (check.h). All
// indices must be in range.
void AssignPhases(Plan* plan);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_PHASES_H_
