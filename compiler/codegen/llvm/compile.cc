#include "compiler/codegen/llvm/compile.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/machine_code.h"
#include "compiler/codegen/llvm/module_emitter.h"
#include "compiler/codegen/llvm/quiet_context.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace ingot::codegen {
namespace {

void Optimize(llvm::Module* module, llvm::TargetMachine* machine,
              int opt_level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  llvm::PassBuilder passes(machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(sccs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, sccs, modules);
  const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  const llvm::OptimizationLevel level = levels[std::clamp(opt_level, 0, 3)];
  llvm::ModulePassManager pipeline =
      level == llvm::OptimizationLevel::O0
          ? passes.buildO0DefaultPipeline(level)
          : passes.buildPerModuleDefaultPipeline(level);
  pipeline.run(*module, modules);
}

std::string Text(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

}  // namespace

absl::StatusOr<std::string> CompileWithLlvm(
    absl::Span<const tir::PrimFunc> kernels, const Machine& machine,
    LlvmOutput output, const LlvmOptions& options) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> target,
                         CreateTargetMachine(machine, options.opt_level));
  std::string diagnostic;
  llvm::LLVMContext context;
  MakeQuiet(&context, &diagnostic);
  llvm::Module module(options.module_name, context);
  module.setTargetTriple(machine.triple);
  module.setDataLayout(target->createDataLayout());
  if (!machine.is_wasm) module.setPICLevel(llvm::PICLevel::BigPIC);

  ModuleEmitter emitter(&module, machine,
                        options.main.has_value() ? &*options.main : nullptr,
                        options.symbol_prefix);
  for (const tir::PrimFunc& kernel : kernels) {
    INGOT_RETURN_IF_ERROR(emitter.AddKernel(kernel));
  }
  if (output == LlvmOutput::kRawText) return Text(module);
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems)) {
    return absl::InternalError(absl::StrCat("the LLVM module of ",
                                            options.module_name,
                                            " is malformed: ", problem));
  }

  Optimize(&module, target.get(), options.opt_level);
  switch (output) {
    case LlvmOutput::kText:
    case LlvmOutput::kRawText:
      return Text(module);
    case LlvmOutput::kBitcode: {
      std::string bitcode;
      llvm::raw_string_ostream out(bitcode);
      llvm::WriteBitcodeToFile(module, out);
      out.flush();
      return bitcode;
    }
    case LlvmOutput::kObject:
    case LlvmOutput::kAssembly: {
      absl::StatusOr<std::string> code =
          EmitMachineCode(&module, target.get(), output == LlvmOutput::kObject);
      if (code.ok() && !diagnostic.empty()) {
        return absl::InternalError(absl::StrCat(
            "LLVM cannot compile ", options.module_name, ": ", diagnostic));
      }
      return code;
    }
  }
  return absl::InternalError("unknown output");
}

}  // namespace ingot::codegen
