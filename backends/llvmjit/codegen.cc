#include "backends/llvmjit/codegen.h"

#include "backends/llvmjit/name.h"
#include "compiler/codegen/llvm/target_kind.h"

namespace ingot {

absl::Status RegisterLlvmjitTarget(TargetRegistry* registry) {
  return registry->Register(codegen::MakeLlvmTargetKind(
      llvmjit::kName,
      "LLVM bitcode, compiled to machine code when it is loaded",
      llvmjit::kName, ".bc", codegen::LlvmOutput::kBitcode));
}

}  // namespace ingot
