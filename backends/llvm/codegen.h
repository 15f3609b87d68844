// The target kind `llvm`: kernels become one object file, through LLVM.
#ifndef INGOT_BACKENDS_LLVM_CODEGEN_H_
#define INGOT_BACKENDS_LLVM_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterLlvmTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVM_CODEGEN_H_
