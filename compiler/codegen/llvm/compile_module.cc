#include "compiler/codegen/llvm/compile_module.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/machine_code.h"
#include "compiler/codegen/llvm/quiet_context.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace ingot::codegen {
namespace {

// To passes over IR these functions are not to be optimised; to those over
// machine code they are.
void SetOptimizeNone(llvm::Module* module, bool none) {
  for (llvm::Function& f : *module) {
    if (!f.hasFnAttribute(kStaysAsEmitted)) continue;
    if (none) {
      f.addFnAttr(llvm::Attribute::NoInline);
      f.addFnAttr(llvm::Attribute::OptimizeNone);
    } else {
      f.removeFnAttr(llvm::Attribute::OptimizeNone);
    }
  }
}

void Optimize(llvm::Module* module, llvm::TargetMachine* machine,
              int opt_level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::OptNoneInstrumentation leaves_alone(/*DebugLogging=*/false);
  leaves_alone.registerCallbacks(callbacks);
  llvm::PassBuilder passes(machine, tuning, std::nullopt, &callbacks);
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
  SetOptimizeNone(module, true);
  pipeline.run(*module, modules);
  SetOptimizeNone(module, false);
}

std::string Text(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

}  // namespace

absl::StatusOr<std::string> CompileModule(
    const std::string& name, const Machine& machine, int opt_level,
    LlvmOutput output, absl::FunctionRef<absl::Status(llvm::Module*)> fill) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> target,
                         CreateTargetMachine(machine, opt_level));
  std::string diagnostic;
  llvm::LLVMContext context;
  MakeQuiet(&context, &diagnostic);
  llvm::Module module(name, context);
  module.setTargetTriple(machine.triple);
  module.setDataLayout(target->createDataLayout());
  INGOT_RETURN_IF_ERROR(fill(&module));
  if (output == LlvmOutput::kRawText) return Text(module);
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems)) {
    return absl::InternalError(
        absl::StrCat("the LLVM module of ", name, " is malformed: ", problem));
  }

  Optimize(&module, target.get(), opt_level);
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
        return absl::InternalError(
            absl::StrCat("LLVM cannot compile ", name, ": ", diagnostic));
      }
      return code;
    }
  }
  return absl::InternalError("unknown output");
}

}  // namespace ingot::codegen
