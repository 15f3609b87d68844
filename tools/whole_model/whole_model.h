// A set whose model is one function, taken apart.
#ifndef INGOT_TOOLS_WHOLE_MODEL_WHOLE_MODEL_H_
#define INGOT_TOOLS_WHOLE_MODEL_WHOLE_MODEL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "artifact/artifact_set.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {

// Artifacts are the set's own; null: it has none.
struct WholeModel {
  const Artifact* header = nullptr;  // never null
  const Artifact* weights = nullptr;
  std::vector<const Artifact*> rest;  // code, and what is of other loaders
  SharedPlan plan;                    // one that passes CheckPlan
};

// FailedPrecondition for a set that has no such function, saying why, no plan,
// or several variants; InvalidArgument for one whose plan makes no sense.
absl::StatusOr<WholeModel> FindWholeModel(const ArtifactSet& set);

}  // namespace ingot

#endif  // INGOT_TOOLS_WHOLE_MODEL_WHOLE_MODEL_H_
