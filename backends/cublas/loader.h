#ifndef INGOT_BACKENDS_CUBLAS_LOADER_H_
#define INGOT_BACKENDS_CUBLAS_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Registers "cublas". Each artifact is a region (region.h), whose function
// queues its products on the executor's stream. Loading fails with NotFound
// without cuBLAS, and with FailedPrecondition for a device that is not CUDA's.
absl::Status RegisterCublasLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CUBLAS_LOADER_H_
