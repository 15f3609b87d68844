#include "compiler/codegen/llvm/machine_code.h"

#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/fold_offsets.h"
#include "compiler/codegen/llvm/strength_reduction.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar.h"
#include "llvm/Transforms/Utils.h"

namespace ingot::codegen {
namespace {

// Inserts passes of ours around the reduction of loops' strength.
void InsertPasses(const llvm::Triple& triple, StrengthReductionGate* gate,
                  llvm::TargetPassConfig* config) {
  if (triple.isWasm()) {
    const std::unique_ptr<llvm::Pass> strength_reduction(
        llvm::createLoopStrengthReducePass());
    config->insertPass(strength_reduction->getPassID(),
                       CreateFoldOffsetsPass());
  }
  if (triple.isX86()) {
    // LLVM runs this one right before strength reduction.
    const std::unique_ptr<llvm::Pass> before(
        llvm::createCanonicalizeFreezeInLoopsPass());
    config->insertPass(before->getPassID(), gate->CreatePass());
  }
}

// As TargetMachine::addPassesToEmitFile does it, which lets no pass of others
// in. False where there is no such code for the machine.
bool AddPasses(llvm::LLVMTargetMachine* machine, llvm::CodeGenFileType type,
               llvm::raw_pwrite_stream& out, StrengthReductionGate* gate,
               llvm::legacy::PassManager* passes) {
  llvm::TargetPassConfig* config = machine->createPassConfig(*passes);
  auto* modules = new llvm::MachineModuleInfoWrapperPass(machine);
  // Where it optimises, LLVM reduces loops' strength; a pass that is inserted
  // beside one that does not run is nobody's.
  if (machine->getOptLevel() != llvm::CodeGenOptLevel::None) {
    InsertPasses(machine->getTargetTriple(), gate, config);
  }
  config->setDisableVerify(true);  // a check of LLVM itself
  passes->add(config);
  passes->add(modules);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine->addAsmPrinter(*passes, out, nullptr, type,
                             modules->getMMI().getContext())) {
    return false;
  }
  passes->add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

absl::StatusOr<std::string> EmitMachineCode(llvm::Module* module,
                                            llvm::TargetMachine* machine,
                                            bool object) {
  llvm::SmallString<0> code;
  llvm::raw_svector_ostream out(code);
  StrengthReductionGate gate;
  llvm::LLVMContext& context = module->getContext();
  llvm::OptPassGate& gate_before = context.getOptPassGate();
  llvm::legacy::PassManager passes;
  const llvm::CodeGenFileType type = object
                                         ? llvm::CodeGenFileType::ObjectFile
                                         : llvm::CodeGenFileType::AssemblyFile;
  // Every target of LLVM's is one.
  auto* target = static_cast<llvm::LLVMTargetMachine*>(machine);
  if (!AddPasses(target, type, out, &gate, &passes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("LLVM writes no ", object ? "objects" : "assembly",
                     " for ", machine->getTargetTriple().str()));
  }
  context.setOptPassGate(gate);
  passes.run(*module);
  context.setOptPassGate(gate_before);
  return std::string(code.data(), code.size());
}

}  // namespace ingot::codegen
