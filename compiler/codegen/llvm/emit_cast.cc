#include <cmath>

#include "compiler/codegen/llvm/float_bits.h"
#include "compiler/codegen/llvm/float_math.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

namespace ingot::codegen {

using llvm::Value;

Value* KernelEmitter::Widen(DataType t, Value* v) {
  if (t.bits != 16) return v;
  return t.code == DataType::kBFloat ? BFloat16ToFloat(b_, v)
                                     : HalfToFloat(b_, m_, v);
}

Value* KernelEmitter::WidenToCompare(DataType t, Value* v) {
  Value* wide = Widen(t, v);
  const auto* was_half = llvm::dyn_cast<llvm::FPExtInst>(wide);
  if (m_.compares_halves || was_half == nullptr ||
      !was_half->getSrcTy()->getScalarType()->isHalfTy() ||
      !wide->getType()->isVectorTy()) {
    return wide;
  }
  // Without the fence the comparison becomes one of halves, and LLVM takes a
  // vector of those apart. Of scalars it compares floats, and makes no vectors
  // of loops with fences.
  return b_.CreateArithmeticFence(wide, wide->getType());
}

Value* KernelEmitter::Narrow(DataType t, Value* v) {
  if (t.bits != 16) return v;
  return t.code == DataType::kBFloat ? FloatToBFloat16(b_, v)
                                     : FloatToHalf(b_, m_, v);
}

// LLVM takes vectors apart for its own saturating conversions to i8 and i16.
Value* KernelEmitter::EmitNarrowSaturatingCast(Value* v, DataType to) {
  const int digits = to.is_int() ? to.bits - 1 : to.bits;
  llvm::Type* type = v->getType();
  Value* zero = llvm::ConstantFP::get(type, 0.0);
  Value* low = to.is_int()
                   ? llvm::ConstantFP::get(type, -std::ldexp(1.0, digits))
                   : zero;
  Value* high = llvm::ConstantFP::get(type, std::ldexp(1.0, digits) - 1);
  // NaN gives 0. No comparison with it holds, so of a limit of 0 that comes by
  // itself.
  if (to.is_int()) v = b_.CreateSelect(b_.CreateFCmpUNO(v, v), zero, v);
  v = b_.CreateSelect(b_.CreateFCmpOGT(v, low), v, low);
  v = b_.CreateSelect(b_.CreateFCmpOLT(v, high), v, high);
  Value* whole = b_.CreateFPToSI(v, TypeLike(b_.getInt32Ty(), v));
  return b_.CreateTrunc(whole, module_->ValueType(to));
}

// LLVM takes vectors apart for saturating conversions to more bits, too, but
// not for the others, which mean nothing beyond the type's limits: numbers that
// lie there, which need not be whole ones of their own type, are left out.
Value* KernelEmitter::EmitSaturatingCast(Value* v, DataType to) {
  const int digits = to.is_int() ? to.bits - 1 : to.bits;
  llvm::Type* const type = module_->ValueType(to);
  const auto limit = [&](const llvm::APInt& whole) {
    return llvm::ConstantInt::get(type, whole);
  };
  Value* const zero = llvm::Constant::getNullValue(v->getType());
  Value* const end =
      llvm::ConstantFP::get(v->getType(), std::ldexp(1., digits));
  Value* const start = to.is_int() ? b_.CreateFNeg(end) : zero;
  // NaN gives 0.
  Value* const fits = b_.CreateSelect(
      b_.CreateAnd(b_.CreateFCmpOGE(v, start), b_.CreateFCmpOLT(v, end)), v,
      zero);
  Value* whole =
      to.is_int() ? b_.CreateFPToSI(fits, type) : b_.CreateFPToUI(fits, type);
  whole = b_.CreateSelect(
      b_.CreateFCmpOGE(v, end),
      limit(to.is_int() ? llvm::APInt::getSignedMaxValue(to.bits)
                        : llvm::APInt::getMaxValue(to.bits)),
      whole);
  if (!to.is_int()) return whole;
  return b_.CreateSelect(b_.CreateFCmpOLT(v, start),
                         limit(llvm::APInt::getSignedMinValue(to.bits)), whole);
}

// Without an instruction for it LLVM takes vectors apart for this one, too,
// where a number that is added to a power of two is in the lowest bits of the
// sum, unless it is large.
Value* KernelEmitter::EmitWideSaturatingCast(Value* v, DataType to) {
  llvm::Type* type = module_->ValueType(to);
  Value* wide = b_.CreateFPExt(v, TypeLike(b_.getDoubleTy(), v));
  FloatMath f(b_, m_, wide);
  Value* whole = b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, wide);
  // NaN is large, too.
  Value* is_large = b_.CreateFCmpUGE(f.Abs(whole), f.C(0x1p51));
  // Half as much again keeps the exponent where the number is negative.
  Value* sum = f.Bits(f.Add(whole, f.C(0x1.8p52)));
  Value* near = b_.CreateSub(sum, f.Bits(f.C(0x1.8p52)));
  llvm::BasicBlock* start = b_.GetInsertBlock();
  llvm::Function* function = start->getParent();
  auto* slow = llvm::BasicBlock::Create(b_.getContext(), "large", function);
  auto* done = llvm::BasicBlock::Create(b_.getContext(), "whole", function);
  b_.CreateCondBr(b_.CreateOrReduce(is_large), slow, done);
  b_.SetInsertPoint(slow);
  Value* all = b_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat,
                                  {type, v->getType()}, {v});
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::PHINode* phi = b_.CreatePHI(type, 2);
  phi->addIncoming(near, start);
  phi->addIncoming(all, slow);
  return phi;
}

Value* KernelEmitter::EmitCast(const tir::Cast& e) {
  const DataType from = e.value->dtype;
  const DataType to = e.dtype;
  if (Value* byte = EmitQuantized(e)) return byte;
  if (Value* number = EmitDequantized(e)) return number;
  Value* v = EmitExpr(e.value);
  llvm::Type* type = module_->ValueType(to);
  if (to.is_bool()) {
    if (from.is_bool()) return v;
    if (!from.is_float()) {
      return b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
    }
    Value* wide = WidenToCompare(from, v);
    return b_.CreateFCmpUNE(wide,
                            llvm::Constant::getNullValue(wide->getType()));
  }
  if (from.is_float() && to.is_integer()) {
    Value* wide = WidenToCompare(from, v);
    if (to.bits <= 16) return EmitNarrowSaturatingCast(wide, to);
    if (wide->getType()->isVectorTy() && m_.Has("avx")) {
      if (to.bits == 32 || m_.Has("avx512dq")) {
        return EmitSaturatingCast(wide, to);
      }
      if (to.is_int() && m_.Has("avx2")) {
        return EmitWideSaturatingCast(wide, to);
      }
    }
    return b_.CreateIntrinsic(
        to.is_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
        {type, wide->getType()}, {wide});
  }
  if (to.is_integer()) {
    return from.is_int() ? b_.CreateSExtOrTrunc(v, type)
                         : b_.CreateZExtOrTrunc(v, type);
  }

  // To a float. A 16-bit one goes through f32, which rounds twice where the
  // source has more digits than that: the first time must then be to odd.
  const bool narrow = to.bits == 16;
  llvm::Type* f32 = TypeLike(b_.getFloatTy(), v);
  if (!from.is_float()) {
    const bool through_double = narrow && from.bits > 16;
    llvm::Type* wide = through_double ? TypeLike(b_.getDoubleTy(), v)
                       : narrow       ? f32
                                      : type;
    Value* converted =
        from.is_int() ? b_.CreateSIToFP(v, wide) : b_.CreateUIToFP(v, wide);
    if (through_double) converted = DoubleToFloatOdd(b_, converted);
    return narrow ? Narrow(to, converted) : converted;
  }
  Value* wide = Widen(from, v);
  if (narrow) {
    if (from.bits == 64) wide = DoubleToFloatOdd(b_, wide);
    return Narrow(to, wide);
  }
  return b_.CreateFPCast(wide, type);
}

}  // namespace ingot::codegen
