#include "backends/opencl/loader.h"

#include "backends/device/code_loader.h"
#include "backends/opencl/device.h"
#include "backends/opencl/name.h"

namespace ingot {

absl::Status RegisterOpenclLoader(LoaderRegistry* registry) {
  return device::RegisterCodeLoader(
      opencl::kName, opencl::kFamily, opencl::kSourceFile,
      [] { return opencl::ClDevice::Open(); }, registry);
}

}  // namespace ingot
