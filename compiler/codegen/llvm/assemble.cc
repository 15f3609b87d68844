#include "compiler/codegen/llvm/assemble.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/machine_code.h"
#include "compiler/codegen/llvm/quiet_context.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace ingot::codegen {

absl::StatusOr<std::string> AssembleLlvm(absl::string_view text,
                                         const std::string& triple) {
  Target target;
  target.kind = "llvm";
  target.options = {{"mcpu", "generic"}};
  if (!triple.empty()) target.options["mtriple"] = triple;
  INGOT_ASSIGN_OR_RETURN(const Machine machine, ResolveMachine(target));
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> generator,
                         CreateTargetMachine(machine, /*opt_level=*/3));
  std::string diagnostic;
  llvm::LLVMContext context;
  MakeQuiet(&context, &diagnostic);
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(
      llvm::StringRef(text.data(), text.size()), problem, context);
  if (module == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "line ", problem.getLineNo(), ": ", problem.getMessage().str()));
  }
  std::string invalid;
  llvm::raw_string_ostream out(invalid);
  if (llvm::verifyModule(*module, &out)) {
    return absl::InvalidArgumentError(
        absl::StrCat("is no valid module: ", invalid));
  }
  const std::string& own = module->getTargetTriple();
  if (!own.empty() && own != machine.triple) {
    return absl::InvalidArgumentError(absl::StrCat(
        "is for ", own, ", and the set's code for ", machine.triple));
  }
  module->setTargetTriple(machine.triple);
  module->setDataLayout(generator->createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  absl::StatusOr<std::string> code =
      EmitMachineCode(module.get(), generator.get(), /*object=*/true);
  if (code.ok() && !diagnostic.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("LLVM cannot compile it: ", diagnostic));
  }
  return code;
}

}  // namespace ingot::codegen
