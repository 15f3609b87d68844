// Kernels to object code, bitcode or text, by way of LLVM.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_COMPILE_H_
#define INGOT_COMPILER_CODEGEN_LLVM_COMPILE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/target/main_function.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

enum class LlvmOutput {
  kObject,    // a relocatable object file
  kAssembly,  // its text
  kBitcode,   // optimised LLVM bitcode
  kText,      // optimised LLVM IR
  kRawText,   // LLVM IR as Ingot made it
};

struct LlvmOptions {
  int opt_level = 3;  // 0 to 3
  // The module's own name. It holds no path, so that the same input gives the
  // same bytes.
  std::string module_name = "kernels";
  // The model among all the kernels, if they have one, and what the names of
  // its C functions begin with.
  std::optional<MainFunction> main;
  std::string symbol_prefix;
};

// Compiles `kernels` into one module. Each is exported as __tvm_ffi_<name>.
// InvalidArgument names the kernel and what cannot be compiled in it; Internal
// is a bug of ours, with LLVM's words.
absl::StatusOr<std::string> CompileWithLlvm(
    absl::Span<const tir::PrimFunc> kernels, const Machine& machine,
    LlvmOutput output, const LlvmOptions& options = {});

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_COMPILE_H_
