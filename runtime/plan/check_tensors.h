#ifndef INGOT_RUNTIME_PLAN_CHECK_TENSORS_H_
#define INGOT_RUNTIME_PLAN_CHECK_TENSORS_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// The part of CheckPlan that is about single tensors: names, types, shapes and
// places. Nothing is known of the plan's other sequences but how long they are.
absl::Status CheckTensors(const Plan& plan);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_TENSORS_H_
