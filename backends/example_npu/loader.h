// The loader `example_npu`: a simulator of the device that runs its commands.
#ifndef INGOT_BACKENDS_EXAMPLE_NPU_LOADER_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_LOADER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "loaders/loader_registry.h"
#include "runtime/module.h"

namespace ingot {

// A function for each artifact, a Stream of stream.proto, which needs the
// launcher `<symbol>_launch` in the set's library. Streams may be hostile:
// every command is checked here, with the artifact's name in the error, so that
// running them needs no checks.
absl::StatusOr<std::shared_ptr<Module>> loadbinary_example_npu(
    absl::Span<const Artifact> group, LoadContext& context);

// Errors: AlreadyExists.
absl::Status RegisterExampleNpuLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_LOADER_H_
