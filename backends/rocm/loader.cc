#include "backends/rocm/loader.h"

#include "backends/device/code_loader.h"
#include "backends/gpu/device.h"
#include "backends/rocm/name.h"

namespace ingot {

absl::Status RegisterRocmLoader(LoaderRegistry* registry) {
  return device::RegisterCodeLoader(
      rocm::kName, gpu::kHip.name, rocm::kCodeFile,
      [] { return gpu::GpuDevice::Open(gpu::kHip); }, registry);
}

}  // namespace ingot
