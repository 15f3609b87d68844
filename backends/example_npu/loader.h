// The loader `example_npu`: a simulator of the device that runs its commands.
#ifndef INGOT_BACKENDS_EXAMPLE_NPU_LOADER_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// A function for each artifact, an array of the commands of stream.h, which
// needs the launcher `<symbol>_launch` in the set's library. Streams may be
// hostile: a command that does not fit what its launcher hands over is an error
// of the call.
// Errors: AlreadyExists.
absl::Status RegisterExampleNpuLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_LOADER_H_
