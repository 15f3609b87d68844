#include "backends/llvm/codegen.h"

#include "compiler/codegen/llvm/target_kind.h"

namespace ingot {

absl::Status RegisterLlvmTarget(TargetRegistry* registry) {
  return registry->Register(codegen::MakeLlvmTargetKind(
      "llvm", "native code for many processors, by LLVM", kNativeLoader, ".o",
      codegen::LlvmOutput::kObject));
}

}  // namespace ingot
