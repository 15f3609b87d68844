// Arithmetic on LLVM values of one float type, written as formulas.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_FLOAT_MATH_H_
#define INGOT_COMPILER_CODEGEN_LLVM_FLOAT_MATH_H_

#include <cstdint>
#include <initializer_list>

#include "compiler/codegen/llvm/float_bits.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/llvm/math.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

namespace ingot::codegen {

// Builds arithmetic on values of one float type and shape. Nothing is
// contracted behind our back: where a rounding matters, it is written.
class FloatMath {
 public:
  FloatMath(llvm::IRBuilder<>& b, const Machine& m, llvm::Value* like)
      : b_(b), m_(m), guard_(b), type_(like->getType()), like_(like) {
    b.setFastMathFlags(llvm::FastMathFlags());
  }

  llvm::Value* C(double v) const { return llvm::ConstantFP::get(type_, v); }
  llvm::Value* Add(llvm::Value* x, llvm::Value* y) {
    return b_.CreateFAdd(x, y);
  }
  llvm::Value* Sub(llvm::Value* x, llvm::Value* y) {
    return b_.CreateFSub(x, y);
  }
  llvm::Value* Mul(llvm::Value* x, llvm::Value* y) {
    return b_.CreateFMul(x, y);
  }
  llvm::Value* Div(llvm::Value* x, llvm::Value* y) {
    return b_.CreateFDiv(x, y);
  }
  llvm::Value* MulAdd(llvm::Value* x, llvm::Value* y, llvm::Value* z) {
    return EmitMulAdd(b_, m_, x, y, z);
  }
  llvm::Value* Abs(llvm::Value* x) {
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  }
  llvm::Value* CopySign(llvm::Value* magnitude, llvm::Value* sign) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
  }
  llvm::Value* Pick(llvm::Value* c, llvm::Value* x, llvm::Value* y) {
    return b_.CreateSelect(c, x, y);
  }
  llvm::Value* Less(llvm::Value* x, llvm::Value* y) {
    return b_.CreateFCmpOLT(x, y);
  }
  llvm::Value* Greater(llvm::Value* x, llvm::Value* y) {
    return b_.CreateFCmpOGT(x, y);
  }
  llvm::Value* Equal(llvm::Value* x, llvm::Value* y) {
    return b_.CreateFCmpOEQ(x, y);
  }
  llvm::Value* IsNan(llvm::Value* x) { return b_.CreateFCmpUNO(x, x); }
  // NaN stays NaN: it is neither less nor greater.
  llvm::Value* Clamp(llvm::Value* x, double low, double high) {
    x = Pick(Greater(x, C(high)), C(high), x);
    return Pick(Less(x, C(low)), C(low), x);
  }
  // Coefficients from the highest power down.
  llvm::Value* Poly(llvm::Value* x,
                    std::initializer_list<double> coefficients) {
    llvm::Value* sum = nullptr;
    for (double c : coefficients) {
      sum = sum == nullptr ? C(c) : MulAdd(sum, x, C(c));
    }
    return sum;
  }
  llvm::Type* IntType() const {
    return TypeLike(type_->getScalarType()->isDoubleTy() ? b_.getInt64Ty()
                                                         : b_.getInt32Ty(),
                    like_);
  }
  llvm::Value* Bits(llvm::Value* x) { return b_.CreateBitCast(x, IntType()); }
  llvm::Value* FromBits(llvm::Value* x) { return b_.CreateBitCast(x, type_); }
  llvm::Value* I(int64_t v) const {
    return llvm::ConstantInt::get(IntType(), static_cast<uint64_t>(v));
  }

  llvm::IRBuilder<>& b_;
  const Machine& m_;

 private:
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
  llvm::Type* type_;
  llvm::Value* like_;
};

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_FLOAT_MATH_H_
