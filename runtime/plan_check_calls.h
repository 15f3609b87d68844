// Private to plan_check: calls that are no function's, each by itself.
#ifndef INGOT_RUNTIME_PLAN_CHECK_CALLS_H_
#define INGOT_RUNTIME_PLAN_CHECK_CALLS_H_

#include "absl/status/status.h"
#include "runtime/plan.pb.h"

namespace ingot {

// Whether the arguments are what such a call takes and gives. The plan's
// tensors and the bodies that the call names must have been checked, and the
// call's indices. InvalidArgument says what does not fit.
absl::Status CheckBranch(const Plan& plan, const PlanCall& call);
absl::Status CheckLoop(const Plan& plan, const PlanCall& call);
absl::Status CheckListStep(const Plan& plan, const PlanCall& call);
absl::Status CheckRandomState(const Plan& plan, const PlanCall& call);
absl::Status CheckBindCall(const Plan& plan, const PlanCall& call);
// Whether what `bind` binds its symbol to is there.
absl::Status CheckBindIndex(const Plan& plan, const PlanCall& call,
                            const PlanBind& bind);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_CALLS_H_
