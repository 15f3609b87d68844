#include "loaders/metadata_loader.h"

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "base/annotate.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {

absl::StatusOr<std::shared_ptr<Module>> LoadBinaryMetadata(
    absl::Span<const Artifact> group, LoadContext& context) {
  if (group.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a set has one plan, this one has ", group.size(), ": ",
                     ArtifactPath(group[0]), " and ", ArtifactPath(group[1])));
  }
  absl::StatusOr<SharedPlan> plan = ReadPlan(group[0].content.view());
  if (plan.ok() && (*plan)->version() == 0) {
    plan = absl::InvalidArgumentError("the plan has no version");
  }
  if (!plan.ok()) return Annotate(plan.status(), ArtifactPath(group[0]));
  context.plan = *std::move(plan);
  return std::shared_ptr<Module>();
}

}  // namespace ingot
