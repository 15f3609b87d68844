#ifndef INGOT_LOADERS_CONSTANTS_LOADER_H_
#define INGOT_LOADERS_CONSTANTS_LOADER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "artifact/artifact.h"
#include "loaders/loader_registry.h"

namespace ingot {

// The loader "constants": adds the tensors of every safetensors artifact of the
// group to context.constants, by name, without copying a byte. Returns no
// module. InvalidArgument for a file that is not valid, AlreadyExists for a
// name that two artifacts define.
absl::StatusOr<std::shared_ptr<Module>> LoadBinaryConstants(
    absl::Span<const Artifact> group, LoadContext& context);

}  // namespace ingot

#endif  // INGOT_LOADERS_CONSTANTS_LOADER_H_
