#include "backends/llvmjit/codegen.h"

#include "compiler/codegen/llvm/target_kind.h"

namespace ingot {

absl::Status RegisterLlvmjitTarget(TargetRegistry* registry) {
  return registry->Register(codegen::MakeLlvmTargetKind(
      "llvmjit", "LLVM bitcode, compiled to machine code when it is loaded",
      "llvmjit", ".bc", codegen::LlvmOutput::kBitcode));
}

}  // namespace ingot
