#include "tools/ingot/plans.h"

#include <utility>

#include "artifact/loader_names.h"

namespace ingot {

std::vector<SharedPlan> ReadPlans(const ArtifactSet& set) {
  std::vector<SharedPlan> plans;
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader != kMetadataLoader) continue;
    absl::StatusOr<SharedPlan> plan = ReadPlan(artifact.content.view());
    if (plan.ok()) plans.push_back(*std::move(plan));
  }
  return plans;
}

}  // namespace ingot
