// Private to check: what a plan says of when things are known.
#ifndef INGOT_RUNTIME_PLAN_CHECK_PHASES_H_
#define INGOT_RUNTIME_PLAN_CHECK_PHASES_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// Checks that every symbol is bound in one phase, in the first by being a
// dimension of an input, in others by the call before it; and that storage,
// tensors and requirements name a phase in which all that they follow from is
// bound. Indices, expressions and views must have been checked. InvalidArgument
// names what is off.
absl::Status CheckPhases(const Plan& plan);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_PHASES_H_
