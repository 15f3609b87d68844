// Machine code of a module of LLVM.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_MACHINE_CODE_H_
#define INGOT_COMPILER_CODEGEN_LLVM_MACHINE_CODE_H_

#include <string>

#include "absl/status/statusor.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace ingot::codegen {

// An object file, or the text of assembly. InvalidArgument where this LLVM
// writes none for the machine; other errors reach the context's handler.
absl::StatusOr<std::string> EmitMachineCode(llvm::Module* module,
                                            llvm::TargetMachine* machine,
                                            bool object);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_MACHINE_CODE_H_
