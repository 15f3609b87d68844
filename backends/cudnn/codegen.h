#ifndef INGOT_BACKENDS_CUDNN_CODEGEN_H_
#define INGOT_BACKENDS_CUDNN_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Registers "cudnn": convolutions by NVIDIA's cuDNN, on the device of the
// target `cuda`. AlreadyExists if the name is taken.
absl::Status RegisterCudnnTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CUDNN_CODEGEN_H_
