#ifndef INGOT_COMPILER_CODEGEN_LLVM_REDUCE_ANGLE_H_
#define INGOT_COMPILER_CODEGEN_LLVM_REDUCE_ANGLE_H_

#include "llvm/IR/Module.h"

namespace ingot::codegen {

// The module's function {float, i32}(float x), made when it is first asked for:
// how far x, of at least 2^19, is from the nearest multiple of pi / 2, and the
// last two bits of which multiple that is. NaN for infinities.
//
// By M. Payne and R. Hanek, Radian reduction for trigonometric functions, 1983:
// only those bits of 2 / pi are multiplied that x's exponent leaves between
// four turns and the last digit.
llvm::Function* ReduceAngleFunction(llvm::Module* module);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_REDUCE_ANGLE_H_
