// Private to check: whether every value is there when it is read.
#ifndef INGOT_RUNTIME_PLAN_CHECK_ORDER_H_
#define INGOT_RUNTIME_PLAN_CHECK_ORDER_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// Checks, call by call, that what it reads was written before and not replaced
// since, that what it writes is in storage, and that the shapes of both are
// known by then; the same of the plan's outputs after all calls. Everything
// else of the plan must have been checked.
absl::Status CheckOrder(const Plan& plan);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_ORDER_H_
