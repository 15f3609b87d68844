// The target kind `llvmjit`: kernels become one file of LLVM bitcode, which
// the loader of the same name turns into machine code. No linker takes part.
#ifndef INGOT_BACKENDS_LLVMJIT_CODEGEN_H_
#define INGOT_BACKENDS_LLVMJIT_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterLlvmjitTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVMJIT_CODEGEN_H_
