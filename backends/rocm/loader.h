// The loader of code objects, and the device that it is for.
#ifndef INGOT_BACKENDS_ROCM_LOADER_H_
#define INGOT_BACKENDS_ROCM_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Registers the loader "rocm" and the device "rocm". The kernels are code,
// which runs on the device (LoaderInput::kCode).
absl::Status RegisterRocmLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_ROCM_LOADER_H_
