#include "loaders/metadata_loader.h"

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"

namespace ingot {

absl::StatusOr<std::shared_ptr<Module>> LoadBinaryMetadata(
    absl::Span<const Artifact> group, LoadContext& context) {
  if (group.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a set has one plan, this one has ", group.size(), ": ",
                     ArtifactPath(group[0]), " and ", ArtifactPath(group[1])));
  }
  const Blob& content = group[0].content;
  // Protobuf itself refuses more than 2 GiB, and nests no deeper than 100.
  if (content.size() > (size_t{1} << 30) ||
      !context.plan.ParseFromArray(content.data(),
                                   static_cast<int>(content.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat(ArtifactPath(group[0]), " is not a plan"));
  }
  if (context.plan.version() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(ArtifactPath(group[0]), " is a plan without a version"));
  }
  return std::shared_ptr<Module>();
}

}  // namespace ingot
