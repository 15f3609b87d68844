#ifndef INGOT_LOADERS_METADATA_LOADER_H_
#define INGOT_LOADERS_METADATA_LOADER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "artifact/artifact.h"
#include "loaders/loader_registry.h"

namespace ingot {

// The loader "metadata": parses the plan, the one artifact of the group, into
// context.plan. Returns no module. InvalidArgument for bytes that are no plan
// or a second artifact; what the plan says is checked by the executor.
absl::StatusOr<std::shared_ptr<Module>> LoadBinaryMetadata(
    absl::Span<const Artifact> group, LoadContext& context);

}  // namespace ingot

#endif  // INGOT_LOADERS_METADATA_LOADER_H_
