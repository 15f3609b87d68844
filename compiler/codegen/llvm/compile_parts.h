// Many kernels, compiled side by side.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_COMPILE_PARTS_H_
#define INGOT_COMPILER_CODEGEN_LLVM_COMPILE_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/codegen/llvm/compile.h"

namespace ingot::codegen {

// Compiles `kernels` into one module, or several where there are many: LLVM
// uses one thread for a module, and a large model's code takes it most of the
// time that compiling takes. How many there are follows from the kernels alone,
// not from the machine. Modules compile on as many threads as there are
// processors, which have ended when the function returns. The errors of
// CompileWithLlvm, the first kernel's first.
absl::StatusOr<std::vector<std::string>> CompileParts(
    absl::Span<const tir::PrimFunc> kernels, const Machine& machine,
    LlvmOutput output, const LlvmOptions& options);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_COMPILE_PARTS_H_
