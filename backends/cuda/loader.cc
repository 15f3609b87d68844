#include "backends/cuda/loader.h"

#include "backends/cuda/name.h"
#include "backends/gpu/program.h"

namespace ingot {

absl::Status RegisterCudaLoader(LoaderRegistry* registry) {
  return gpu::RegisterGpuLoader(cuda::kName, gpu::kCuda, cuda::kPtxFile,
                                registry);
}

}  // namespace ingot
