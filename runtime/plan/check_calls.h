// Private to check: calls, each by itself.
#ifndef INGOT_RUNTIME_PLAN_CHECK_CALLS_H_
#define INGOT_RUNTIME_PLAN_CHECK_CALLS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// The bodies that a call runs, as it says.
std::vector<uint32_t> BodiesOf(const PlanCall& call);

// Whether the arguments are what a step of the call's kind takes and gives, and
// whether what its symbols are bound to is there. The plan's tensors and the
// bodies that the call names must have been checked, and the indices of its
// arguments. InvalidArgument says what does not fit.
absl::Status CheckStep(const Plan& plan, const PlanCall& call);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_CALLS_H_
