#include "artifact/main_header.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "artifact/loader_names.h"

namespace ingot {

absl::StatusOr<const Artifact*> FindMainHeader(const ArtifactSet& set) {
  const std::string name = absl::StrCat(set.provenance().symbol_prefix(), ".h");
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader == kNativeLoader && artifact.file_name == name) {
      return &artifact;
    }
  }
  for (const Provenance::Option& option : set.provenance().options()) {
    if (option.name() != kNoMainOption) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the model cannot be one function: ", option.value()));
  }
  return absl::FailedPreconditionError(
      "the set does not have the model as one function; compile it for "
      "--target=llvm or --target=c");
}

}  // namespace ingot
