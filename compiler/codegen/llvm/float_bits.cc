#include "compiler/codegen/llvm/float_bits.h"

#include "llvm/IR/DerivedTypes.h"

namespace ingot::codegen {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;

// Exactness is the point here: no flag may let LLVM change a result.
class Strict {
 public:
  explicit Strict(llvm::IRBuilder<>& b) : guard_(b) {
    b.setFastMathFlags(llvm::FastMathFlags());
  }

 private:
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
};

Value* Int(Value* like, uint64_t v) {
  return ConstantInt::get(like->getType(), v);
}

}  // namespace

llvm::Type* TypeLike(llvm::Type* t, Value* like) {
  const auto* vector = llvm::dyn_cast<llvm::VectorType>(like->getType());
  return vector == nullptr
             ? t
             : llvm::VectorType::get(t, vector->getElementCount());
}

Value* HalfToFloat(llvm::IRBuilder<>& b, const Machine& m, Value* bits) {
  Strict strict(b);
  llvm::Type* f32 = TypeLike(b.getFloatTy(), bits);
  if (m.has_f16c) {
    return b.CreateFPExt(b.CreateBitCast(bits, TypeLike(b.getHalfTy(), bits)),
                         f32);
  }
  llvm::Type* i32 = TypeLike(b.getInt32Ty(), bits);
  Value* wide = b.CreateZExt(bits, i32);
  Value* magnitude = b.CreateShl(b.CreateAnd(wide, Int(wide, 0x7fff)), 13);
  Value* sign = b.CreateShl(b.CreateAnd(wide, Int(wide, 0x8000)), 16);
  // Multiplying by 2^112 corrects the exponent's bias, subnormals included.
  Value* scaled = b.CreateFMul(b.CreateBitCast(magnitude, f32),
                               ConstantFP::get(f32, 0x1p112));
  Value* finite = b.CreateBitCast(scaled, i32);
  Value* special = b.CreateOr(magnitude, Int(wide, 0x7f800000));
  Value* is_special = b.CreateICmpUGE(magnitude, Int(wide, 0x0f800000));
  Value* result = b.CreateOr(b.CreateSelect(is_special, special, finite), sign);
  return b.CreateBitCast(result, f32);
}

Value* BFloat16ToFloat(llvm::IRBuilder<>& b, Value* bits) {
  Value* wide = b.CreateZExt(bits, TypeLike(b.getInt32Ty(), bits));
  return b.CreateBitCast(b.CreateShl(wide, 16), TypeLike(b.getFloatTy(), bits));
}

Value* FloatToHalf(llvm::IRBuilder<>& b, const Machine& m, Value* value) {
  Strict strict(b);
  llvm::Type* i16 = TypeLike(b.getInt16Ty(), value);
  if (m.has_f16c) {
    return b.CreateBitCast(
        b.CreateFPTrunc(value, TypeLike(b.getHalfTy(), value)), i16);
  }
  llvm::Type* f32 = value->getType();
  llvm::Type* i32 = TypeLike(b.getInt32Ty(), value);
  Value* bits = b.CreateBitCast(value, i32);
  Value* sign = b.CreateAnd(b.CreateLShr(bits, 16), Int(bits, 0x8000));
  Value* magnitude = b.CreateAnd(bits, Int(bits, 0x7fffffff));
  // Normal: rebias, and round by adding just under half of the last place,
  // plus its lowest bit.
  Value* odd = b.CreateAnd(b.CreateLShr(magnitude, 13), Int(bits, 1));
  Value* normal = b.CreateLShr(
      b.CreateAdd(b.CreateAdd(magnitude, Int(bits, 0xc8000fff)), odd), 13);
  // Subnormal: adding 0.5 makes the float unit round at the right place.
  Value* shifted =
      b.CreateFAdd(b.CreateBitCast(magnitude, f32), ConstantFP::get(f32, 0.5));
  Value* subnormal =
      b.CreateSub(b.CreateBitCast(shifted, i32), Int(bits, 0x3f000000));
  Value* is_nan = b.CreateICmpUGT(magnitude, Int(bits, 0x7f800000));
  Value* special = b.CreateSelect(is_nan, Int(bits, 0x7e00), Int(bits, 0x7c00));
  Value* result = b.CreateSelect(
      b.CreateICmpUGE(magnitude, Int(bits, 0x47800000)), special,
      b.CreateSelect(b.CreateICmpULT(magnitude, Int(bits, 0x38800000)),
                     subnormal, normal));
  return b.CreateTrunc(b.CreateOr(result, sign), i16);
}

Value* FloatToBFloat16(llvm::IRBuilder<>& b, Value* value) {
  llvm::Type* i32 = TypeLike(b.getInt32Ty(), value);
  Value* bits = b.CreateBitCast(value, i32);
  Value* high = b.CreateLShr(bits, 16);
  Value* odd = b.CreateAnd(high, Int(bits, 1));
  Value* rounded =
      b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, Int(bits, 0x7fff)), odd), 16);
  Value* quiet = b.CreateOr(high, Int(bits, 0x40));
  Value* is_nan = b.CreateICmpUGT(b.CreateAnd(bits, Int(bits, 0x7fffffff)),
                                  Int(bits, 0x7f800000));
  return b.CreateTrunc(b.CreateSelect(is_nan, quiet, rounded),
                       TypeLike(b.getInt16Ty(), value));
}

Value* DoubleToFloatOdd(llvm::IRBuilder<>& b, Value* value) {
  Strict strict(b);
  llvm::Type* f32 = TypeLike(b.getFloatTy(), value);
  llvm::Type* i32 = TypeLike(b.getInt32Ty(), value);
  Value* nearest = b.CreateFPTrunc(value, f32);
  Value* back = b.CreateFPExt(nearest, value->getType());
  Value* bits = b.CreateBitCast(nearest, i32);
  Value* away =
      b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                      b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
  Value* towards_zero = b.CreateSub(bits, b.CreateZExt(away, i32));
  Value* inexact = b.CreateFCmpONE(back, value);
  Value* odd = b.CreateOr(towards_zero, b.CreateZExt(inexact, i32));
  return b.CreateBitCast(odd, f32);
}

}  // namespace ingot::codegen
