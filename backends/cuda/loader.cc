#include "backends/cuda/loader.h"

#include "backends/cuda/name.h"
#include "backends/device/code_loader.h"
#include "backends/gpu/device.h"

namespace ingot {

absl::Status RegisterCudaLoader(LoaderRegistry* registry) {
  return device::RegisterCodeLoader(
      cuda::kName, gpu::kCuda.name, cuda::kPtxFile,
      [] { return gpu::GpuDevice::Open(gpu::kCuda); }, registry);
}

}  // namespace ingot
