// The mathematical functions of f32, or of vectors of it, as LLVM IR. Private
// to this folder; math.h says how exact they are.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_MATH_F32_H_
#define INGOT_COMPILER_CODEGEN_LLVM_MATH_F32_H_

#include "compiler/codegen/llvm/machine.h"
#include "llvm/IR/IRBuilder.h"

namespace ingot::codegen {

llvm::Value* Exp32(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* x);
llvm::Value* Log32(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* x);
llvm::Value* Tanh32(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* x);
llvm::Value* Erf32(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* x);
llvm::Value* Atan32(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* x);
llvm::Value* Asinh32(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* x);
llvm::Value* Pow32(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* x,
                   llvm::Value* y);
// The rest of a division, exactly. Inserts at b's place, where new blocks may
// begin.
llvm::Value* Fmod32(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* x,
                    llvm::Value* y);
// The sine, or the cosine. Inserts at b's place, where new blocks may begin.
llvm::Value* SinCos32(llvm::IRBuilder<>& b, const Machine& m, bool cosine,
                      llvm::Value* x);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_MATH_F32_H_
