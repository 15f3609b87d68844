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
    tensors->merge(context.constants);
    if (!context.constants.empty()) {  // What is in both has stayed.
      return absl::AlreadyExistsError(absl::StrCat(
          ArtifactPath(artifact), ": the constant '",
          context.constants.begin()->first, "' is also in another artifact"));
    }
    context.constants = *std::move(tensors);
  }
  return std::shared_ptr<Module>();
}

}  // namespace ingot
