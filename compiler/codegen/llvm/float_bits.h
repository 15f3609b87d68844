// Conversions of the two 16-bit float types, as LLVM IR that needs no library
// calls. A value of either type is an i16, or a vector of them.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_FLOAT_BITS_H_
#define INGOT_COMPILER_CODEGEN_LLVM_FLOAT_BITS_H_

#include "compiler/codegen/llvm/machine.h"
#include "llvm/IR/IRBuilder.h"

namespace ingot::codegen {

// Exact.
llvm::Value* HalfToFloat(llvm::IRBuilder<>& b, const Machine& m,
                         llvm::Value* bits);
llvm::Value* BFloat16ToFloat(llvm::IRBuilder<>& b, llvm::Value* bits);

// To nearest, ties to even; NaN stays NaN.
llvm::Value* FloatToHalf(llvm::IRBuilder<>& b, const Machine& m,
                         llvm::Value* value);
llvm::Value* FloatToBFloat16(llvm::IRBuilder<>& b, llvm::Value* value);

// A double as a float such that rounding that once more, to 16 bits, gives
// what rounding the double directly would: inexact values get an odd last bit.
llvm::Value* DoubleToFloatOdd(llvm::IRBuilder<>& b, llvm::Value* value);

// `t`, or a vector of it with as many elements as `like` has.
llvm::Type* TypeLike(llvm::Type* t, llvm::Value* like);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_FLOAT_BITS_H_
