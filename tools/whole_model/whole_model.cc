#include "tools/whole_model/whole_model.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "artifact/loader_names.h"
#include "artifact/main_header.h"
#include "base/status_macros.h"
#include "runtime/plan/check.h"

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
  const absl::string_view bytes = plan->content.view();
  if (!model.plan.ParseFromArray(bytes.data(),
                                 static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat(ArtifactPath(*plan), " is damaged"));
  }
  INGOT_RETURN_IF_ERROR(CheckPlan(model.plan));
  return model;
}

}  // namespace ingot
