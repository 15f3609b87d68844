// Private to check: results that take the place of operands.
#ifndef INGOT_RUNTIME_PLAN_CHECK_IN_PLACE_H_
#define INGOT_RUNTIME_PLAN_CHECK_IN_PLACE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// Checks what a call of `plan` says of updates in place: that steps of its kind
// make any, that each pair is of one type and, if tensors, in one place, and
// that the operand is read once. `is_body`: sequences that are inputs are
// passed for each run, so they may be used up too. Tensors must have been
// checked, and the call's indices.
absl::Status CheckInPlace(const Plan& plan, const PlanCall& call, bool is_body);

// Whether a call of the plan updates this tensor in place.
bool IsUpdatedInPlace(const Plan& plan, uint32_t tensor);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_IN_PLACE_H_
