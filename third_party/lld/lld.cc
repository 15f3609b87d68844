// LLD for ELF, without what it has for link-time optimisation: the code
// generators of every processor, and passes that plug-ins bring.

#include <vector>

#include "lld/Common/Driver.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

// LLD asks for these whether or not it is given bitcode; Ingot's objects are
// machine code.
#define LLVM_TARGET(name)                    \
  extern "C" {                               \
  void LLVMInitialize##name##Target() {}     \
  void LLVMInitialize##name##TargetInfo() {} \
  void LLVMInitialize##name##TargetMC() {}   \
  }
#include "llvm/Config/Targets.def"
#define LLVM_ASM_PRINTER(name) \
  extern "C" void LLVMInitialize##name##AsmPrinter() {}
#include "llvm/Config/AsmPrinters.def"
#define LLVM_ASM_PARSER(name) \
  extern "C" void LLVMInitialize##name##AsmParser() {}
#include "llvm/Config/AsmParsers.def"

// Debian's LLVM has Polly's passes built in.
llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }

int main(int argc, char** argv) {
  const std::vector<const char*> words(argv, argv + argc);
  const bool linked =
      lld::elf::link(words, llvm::outs(), llvm::errs(), /*exitEarly=*/true,
                     /*disableOutput=*/false);
  return linked ? 0 : 1;
}
