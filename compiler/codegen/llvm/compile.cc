#include "compiler/codegen/llvm/compile.h"

#include "base/status_macros.h"
#include "compiler/codegen/llvm/compile_module.h"
#include "compiler/codegen/llvm/module_emitter.h"
#include "compiler/codegen/llvm/share_functions.h"
#include "llvm/IR/Module.h"

namespace ingot::codegen {

absl::StatusOr<std::string> CompileWithLlvm(
    absl::Span<const tir::PrimFunc> kernels, const Machine& machine,
    LlvmOutput output, const LlvmOptions& options) {
  const auto fill = [&](llvm::Module* module) -> absl::Status {
    if (!machine.is_wasm) module->setPICLevel(llvm::PICLevel::BigPIC);
    ModuleEmitter emitter(module, machine,
                          options.main.has_value() ? &*options.main : nullptr,
                          options.symbol_prefix);
    for (const tir::PrimFunc& kernel : kernels) {
      INGOT_RETURN_IF_ERROR(emitter.AddKernel(kernel));
    }
    if (options.opt_level > 0) ShareFunctions(module);
    return absl::OkStatus();
  };
  return CompileModule(options.module_name, machine, options.opt_level, output,
                       fill);
}

}  // namespace ingot::codegen
