// The loader of OpenCL C, and the device that it is for.
#ifndef INGOT_BACKENDS_OPENCL_LOADER_H_
#define INGOT_BACKENDS_OPENCL_LOADER_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Registers the loader "opencl" and the device "opencl". The kernels are code,
// which runs on the device (LoaderInput::kCode).
absl::Status RegisterOpenclLoader(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_OPENCL_LOADER_H_
