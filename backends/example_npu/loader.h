// The loader `example_npu`, and the device that it is for.
#ifndef INGOT_BACKENDS_EXAMPLE_NPU_LOADER_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Registers the device `example_npu`, a simulator, and a loader that makes a
// function of each command stream, which needs the launcher `<symbol>_launch`
// in the set's library. Its arguments are on the device. Streams may be
// hostile: they are checked when they are loaded and before each command runs.
// Errors: AlreadyExists.
absl::Status RegisterExampleNpuLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_LOADER_H_
