#include "tools/whole_model/checked_plan.h"

#include "artifact/artifact_set.h"
#include "base/annotate.h"
#include "runtime/plan/check.h"

namespace ingot {

absl::StatusOr<SharedPlan> ReadCheckedPlan(const Artifact& artifact) {
  absl::StatusOr<SharedPlan> plan = ReadPlan(artifact.content.view());
  absl::Status status = plan.ok() ? CheckPlan(**plan) : plan.status();
  if (!status.ok()) return Annotate(status, ArtifactPath(artifact));
  return plan;
}

}  // namespace ingot
