// Functions that differ in a few constants, as the layers of a quantised model
// do in scales and zero points, and the parts of a concatenation in where they
// go: one function, which is optimised once and reads these from a table.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_SHARE_FUNCTIONS_H_
#define INGOT_COMPILER_CODEGEN_LLVM_SHARE_FUNCTIONS_H_

#include "llvm/IR/Module.h"

namespace ingot::codegen {

// Rewrites functions of the module that are never inlined, before LLVM's own
// passes. Numbers that LLVM simplifies by, such as 0 and powers of two, stay
// in the code. A function that only this module sees is gone afterwards;
// another one calls what it shares.
void ShareFunctions(llvm::Module* module);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_SHARE_FUNCTIONS_H_
