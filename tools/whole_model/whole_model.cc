#include "tools/whole_model/whole_model.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "artifact/loader_names.h"
#include "artifact/main_header.h"
#include "base/status_macros.h"
#include "tools/whole_model/checked_plan.h"

namespace ingot {

absl::StatusOr<WholeModel> FindWholeModel(const ArtifactSet& set) {
  if (!set.provenance().variants().empty()) {
    return absl::FailedPreconditionError(
        "the set has the model in several variants; compile it for one of "
        "them");
  }
  WholeModel model;
  INGOT_ASSIGN_OR_RETURN(model.header, FindMainHeader(set));
  const Artifact* plan = nullptr;
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader == kMetadataLoader) {
      plan = &artifact;
    } else if (artifact.loader == kConstantsLoader) {
      model.weights = &artifact;
    } else if (&artifact != model.header) {
      model.rest.push_back(&artifact);
    }
  }
  if (plan == nullptr) {
    return absl::FailedPreconditionError("the set has no plan");
  }
  INGOT_ASSIGN_OR_RETURN(model.plan, ReadCheckedPlan(*plan));
  return model;
}

}  // namespace ingot
