#include "loaders/constants_loader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "base/annotate.h"
#include "runtime/safetensors.h"

namespace ingot {

absl::StatusOr<std::shared_ptr<Module>> LoadBinaryConstants(
    absl::Span<const Artifact> group, LoadContext& context) {
  for (const Artifact& artifact : group) {
    absl::StatusOr<std::map<std::string, Tensor>> tensors =
        ReadSafetensors(artifact.content);
    if (!tensors.ok()) {
      return Annotate(tensors.status(), ArtifactPath(artifact));
    }
    context.constants.merge(*tensors);
    if (!tensors->empty()) {  // What was there already has stayed.
      return absl::AlreadyExistsError(absl::StrCat(
          ArtifactPath(artifact), ": the constant '", tensors->begin()->first,
          "' is also in another artifact"));
    }
  }
  return std::shared_ptr<Module>();
}

}  // namespace ingot
