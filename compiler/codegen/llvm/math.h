// The mathematical functions of tir as LLVM IR: polynomials for the f32 ones
// that kernels spend time in, so that loops over them vectorise, and calls of
// the C library for the rest.
//
// The f32 expansions (exp, log, tanh, erf, sin, cos, atan, asinh, pow) err by
// less than 1e-6 of the result (fmod not at all), and follow C for infinities,
// NaN, zeros and overflow.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_MATH_H_
#define INGOT_COMPILER_CODEGEN_LLVM_MATH_H_

#include <vector>

#include "compiler/codegen/llvm/machine.h"
#include "compiler/tir/ir.h"
#include "llvm/IR/IRBuilder.h"

namespace ingot::codegen {

// a * b + c, fused where the machine does that in one instruction.
llvm::Value* EmitMulAdd(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* a,
                        llvm::Value* c, llvm::Value* d);

// Words of four bytes, those of x without a sign, that are multiplied.
struct Dot4Terms {
  llvm::Value* x;
  llvm::Value* y;
};

// tir's kDot4 of i32 or vectors of them, of one after the other of the terms,
// the first of which is added to z: one instruction each where the machine has
// it for so many lanes, few where it has them for small bytes, and otherwise
// products of pairs of 16 bits.
llvm::Value* EmitDot4s(llvm::IRBuilder<>& b, const Machine& m,
                       const std::vector<Dot4Terms>& terms, llvm::Value* z);

// tir's kDot2 of i32 or vectors of them: one instruction and a sum where the
// machine has it for so many lanes.
llvm::Value* EmitDot2(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* x,
                      llvm::Value* y, llvm::Value* z);

// `args` are floats or doubles, or vectors of them, all of one type. kIsNan
// and kIsInf give i1. Inserts at b's place, where new blocks may begin.
llvm::Value* EmitIntrinsic(llvm::IRBuilder<>& b, const Machine& m,
                           tir::Intrinsic intrinsic,
                           const std::vector<llvm::Value*>& args);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_MATH_H_
