#ifndef INGOT_BACKENDS_CUBLAS_CODEGEN_H_
#define INGOT_BACKENDS_CUBLAS_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Registers "cublas": products of matrices by NVIDIA's cuBLAS, on the device of
// the target `cuda`. AlreadyExists if the name is taken.
absl::Status RegisterCublasTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CUBLAS_CODEGEN_H_
