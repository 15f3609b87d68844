#ifndef INGOT_TOOLS_WHOLE_MODEL_CHECKED_PLAN_H_
#define INGOT_TOOLS_WHOLE_MODEL_CHECKED_PLAN_H_

#include "absl/status/statusor.h"
#include "artifact/artifact.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {

// The plan in an artifact of loader "metadata", which passes CheckPlan. Errors
// name the artifact.
absl::StatusOr<SharedPlan> ReadCheckedPlan(const Artifact& artifact);

}  // namespace ingot

#endif  // INGOT_TOOLS_WHOLE_MODEL_CHECKED_PLAN_H_
