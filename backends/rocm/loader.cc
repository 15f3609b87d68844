#include "backends/rocm/loader.h"

#include "backends/gpu/program.h"
#include "backends/rocm/name.h"

namespace ingot {

absl::Status RegisterRocmLoader(LoaderRegistry* registry) {
  return gpu::RegisterGpuLoader(rocm::kName, gpu::kHip, rocm::kCodeFile,
                                registry);
}

}  // namespace ingot
