// Floats that are rounded to bytes, and back (quantization.h).
#include "compiler/codegen/llvm/float_math.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace ingot::codegen {
namespace {

// To the nearest, as no code changes it.
constexpr int kRoundingOfTheThread = 4;

}  // namespace

using llvm::Value;

KernelEmitter::RoundedByte KernelEmitter::EmitRounded(const Quantization& q) {
  Value* v = EmitExpr(q.x);
  FloatMath f(b_, m_, v);
  RoundedByte rounded;
  if (q.to.is_int()) rounded.is_nan = f.IsNan(v);
  v = f.Pick(f.Greater(v, f.C(q.least)), v, f.C(q.least));
  v = f.Pick(f.Less(v, f.C(q.most)), v, f.C(q.most));
  rounded.sum = f.Add(EmitQuotient(q, v), f.C(kWholeNumbers));
  return rounded;
}

Value* KernelEmitter::EmitQuotient(const Quantization& q, Value* v) {
  FloatMath f(b_, m_, v);
  const ByteReciprocal& reciprocal = q.reciprocal;
  if (!m_.has_fma) return f.Div(v, f.C(q.scale));
  if (reciprocal.low == 0) return f.Mul(v, f.C(reciprocal.high));
  return f.MulAdd(v, f.C(reciprocal.high), f.Mul(v, f.C(reciprocal.low)));
}

Value* KernelEmitter::EmitWholeQuotient(const Quantization& q) {
  Value* const x = EmitExpr(q.x);
  FloatMath f(b_, m_, x);
  // NaN passes, and becomes what numbers below all others do.
  Value* v = f.Pick(f.Greater(x, f.C(q.most)), f.C(q.most), x);
  if (q.HasLimitBelow()) v = f.Pick(f.Less(v, f.C(q.least)), f.C(q.least), v);
  Value* const whole = b_.CreateIntrinsic(
      llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
      {EmitQuotient(q, v), llvm::PoisonValue::get(f.IntType()),
       llvm::ConstantInt::get(b_.getInt16Ty(), -1, /*IsSigned=*/true),
       b_.getInt32(kRoundingOfTheThread)});
  return q.to.is_int() ? f.Pick(f.IsNan(x), f.I(-q.zero), whole) : whole;
}

Value* KernelEmitter::EmitQuantized(const tir::Cast& e) {
  const std::optional<Quantization> q = quantizations_.Find(e);
  if (!q) return nullptr;
  const RoundedByte rounded = EmitRounded(*q);
  FloatMath f(b_, m_, rounded.sum);
  // The last byte of kWholeNumbers itself is 0.
  Value* whole = b_.CreateAdd(f.Bits(rounded.sum), f.I(q->zero));
  if (rounded.is_nan != nullptr) whole = f.Pick(rounded.is_nan, f.I(0), whole);
  return b_.CreateTrunc(whole, module_->ValueType(e.dtype));
}

Value* KernelEmitter::EmitDequantized(const tir::Cast& e) {
  const std::optional<Dequantization> d = quantizations_.FindDequantization(e);
  if (!d) return nullptr;
  const RoundedByte rounded = EmitRounded(d->rounded);
  FloatMath f(b_, m_, rounded.sum);
  Value* number =
      f.Sub(rounded.sum, f.C(kWholeNumbers - (d->rounded.zero - d->zero)));
  return rounded.is_nan == nullptr
             ? number
             : f.Pick(rounded.is_nan, f.C(-d->zero), number);
}

}  // namespace ingot::codegen
