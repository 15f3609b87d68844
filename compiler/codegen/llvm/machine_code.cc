#include "compiler/codegen/llvm/machine_code.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace ingot::codegen {

absl::StatusOr<std::string> EmitMachineCode(llvm::Module* module,
                                            llvm::TargetMachine* machine,
                                            bool object) {
  llvm::SmallString<0> code;
  llvm::raw_svector_ostream out(code);
  llvm::legacy::PassManager passes;
  const llvm::CodeGenFileType type = object
                                         ? llvm::CodeGenFileType::ObjectFile
                                         : llvm::CodeGenFileType::AssemblyFile;
  if (machine->addPassesToEmitFile(passes, out, nullptr, type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("LLVM writes no ", object ? "objects" : "assembly",
                     " for ", machine->getTargetTriple().str()));
  }
  passes.run(*module);
  return std::string(code.data(), code.size());
}

}  // namespace ingot::codegen
