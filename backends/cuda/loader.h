// The loader of PTX, and the device that it is for.
#ifndef INGOT_BACKENDS_CUDA_LOADER_H_
#define INGOT_BACKENDS_CUDA_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Registers the loader "cuda" and the device "cuda". The kernels are code,
// which runs on the device (LoaderInput::kCode).
absl::Status RegisterCudaLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CUDA_LOADER_H_
