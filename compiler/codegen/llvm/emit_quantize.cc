// Floats that are rounded to bytes, and back (quantization.h).
#include "compiler/codegen/llvm/float_math.h"
#include "compiler/codegen/llvm/kernel_emitter.h"

namespace ingot::codegen {

using llvm::Value;

KernelEmitter::RoundedByte KernelEmitter::EmitRounded(const Quantization& q) {
  Value* v = EmitExpr(q.x);
  FloatMath f(b_, m_, v);
  RoundedByte rounded;
  if (q.to.is_int()) rounded.is_nan = f.IsNan(v);
  v = f.Pick(f.Greater(v, f.C(q.least)), v, f.C(q.least));
  v = f.Pick(f.Less(v, f.C(q.most)), v, f.C(q.most));
  const ByteReciprocal& reciprocal = q.reciprocal;
  if (!m_.has_fma) {
    v = f.Div(v, f.C(q.scale));
  } else if (reciprocal.low == 0) {
    v = f.Mul(v, f.C(reciprocal.high));
  } else {
    v = f.MulAdd(v, f.C(reciprocal.high), f.Mul(v, f.C(reciprocal.low)));
  }
  rounded.sum = f.Add(v, f.C(kWholeNumbers));
  return rounded;
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
