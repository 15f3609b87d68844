// The target `cuda`: loops as PTX for NVIDIA's GPUs.
#ifndef INGOT_BACKENDS_CUDA_CODEGEN_H_
#define INGOT_BACKENDS_CUDA_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

absl::Status RegisterCudaTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CUDA_CODEGEN_H_
