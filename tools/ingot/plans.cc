#include "tools/ingot/plans.h"

#include <cstddef>
#include <utility>

#include "artifact/loader_names.h"

namespace ingot {

std::vector<Plan> ReadPlans(const ArtifactSet& set) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  std::vector<Plan> plans;
  for (const Artifact& artifact : set.artifacts()) {
    Plan plan;
    if (artifact.loader == kMetadataLoader &&
        artifact.content.size() <= kMostBytes &&
        plan.ParseFromArray(artifact.content.data(),
                            static_cast<int>(artifact.content.size()))) {
      plans.push_back(std::move(plan));
    }
  }
  return plans;
}

}  // namespace ingot
