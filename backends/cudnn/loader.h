#ifndef INGOT_BACKENDS_CUDNN_LOADER_H_
#define INGOT_BACKENDS_CUDNN_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Registers "cudnn". Each artifact is a region (region.h), whose function
// queues its convolutions on the executor's stream. Loading fails with NotFound
// without cuDNN, and with FailedPrecondition for a device that is not CUDA's.
absl::Status RegisterCudnnLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CUDNN_LOADER_H_
