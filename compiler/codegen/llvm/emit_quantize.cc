// Floats that are rounded to bytes: u8(round(x / scale) + zero), and what is
// made of such a byte as a float again, without becoming an integer between.
//
// x is brought into the range whose ends become the first and the last byte
// before it is divided, so that whatever comes out is a small number, and
//
//   1.5 * 2^23 + x / scale
//
// has the quotient, rounded to even, in its last digits.
#include <algorithm>
#include <cmath>

#include "compiler/codegen/llvm/float_math.h"
#include "compiler/codegen/llvm/kernel_emitter.h"

namespace ingot::codegen {

using llvm::Value;
using tir::As;
using tir::BinaryOp;
using tir::Expr;

namespace {

// The last digit of numbers around it is worth 1, and half of the next power of
// two lies below and above it.
constexpr double kWhole = 0x1.8p23;

// The number that each lane is; nothing where they are none that is known.
std::optional<double> NumberOf(const Expr& e) {
  if (const auto* all = As<tir::Broadcast>(e)) return NumberOf(all->value);
  if (const auto* x = As<tir::FloatImm>(e)) return x->value;
  if (const auto* x = As<tir::IntImm>(e)) {
    return static_cast<double>(x->value);
  }
  return std::nullopt;
}

}  // namespace

// A conversion as quantisation has it.
struct KernelEmitter::Quantization {
  Expr x;
  float scale;
  int zero;
  DataType to;

  int low() const { return to.is_int() ? -128 : 0; }
  int high() const { return low() + 255; }
};

std::optional<KernelEmitter::Quantization> KernelEmitter::AsQuantization(
    const tir::Cast& e) const {
  if (!e.dtype.is_integer() || e.dtype.is_bool() || e.dtype.bits != 8) {
    return std::nullopt;
  }
  Expr value = e.value;
  double zero = 0;
  const auto* sum = As<tir::Binary>(value);
  if (sum != nullptr && sum->op == BinaryOp::kAdd) {
    const std::optional<double> term = NumberOf(sum->b);
    if (!term) return std::nullopt;
    zero = *term;
    value = sum->a;
  }
  const auto* round = As<tir::Call>(value);
  if (round == nullptr || round->intrinsic != tir::Intrinsic::kRound) {
    return std::nullopt;
  }
  const auto* quotient = As<tir::Binary>(round->args[0]);
  if (quotient == nullptr || quotient->op != BinaryOp::kDiv ||
      quotient->dtype.element() != DataType::Float(32)) {
    return std::nullopt;
  }
  const std::optional<double> scale = NumberOf(quotient->b);
  Quantization q = {quotient->a, 0, 0, e.dtype};
  if (!scale || zero != std::rint(zero) || zero < q.low() || zero > q.high()) {
    return std::nullopt;
  }
  q.scale = static_cast<float>(*scale);
  q.zero = static_cast<int>(zero);
  return q;
}

// q.x without limits of its own, such as those of a relu, which these here
// become instead. NaN passes through such limits; of u8 it is the lower one.
Expr KernelEmitter::TakeLimits(const Quantization& q, float* low, float* high) {
  Expr x = q.x;
  while (const auto* limited = As<tir::Binary>(x)) {
    const std::optional<double> limit = NumberOf(limited->a);
    if (!limit || !(*limit >= *low || limited->op == BinaryOp::kMax) ||
        !(*limit <= *high || limited->op == BinaryOp::kMin)) {
      break;
    }
    if (limited->op == BinaryOp::kMin) {
      *high = std::min(*high, static_cast<float>(*limit));
    } else if (limited->op == BinaryOp::kMax &&
               (*limit <= *low || q.to.is_int())) {
      *low = std::max(*low, static_cast<float>(*limit));
    } else {
      break;
    }
    x = limited->b;
  }
  return x;
}

const std::optional<ByteReciprocal>& KernelEmitter::ReciprocalFor(
    const Quantization& q) {
  const auto key = std::make_pair(q.scale, q.low() - q.zero);
  const auto found = reciprocals_.find(key);
  if (found != reciprocals_.end()) return found->second;
  return reciprocals_[key] =
             FindByteReciprocal(q.scale, q.low() - q.zero, q.high() - q.zero);
}

KernelEmitter::RoundedByte KernelEmitter::EmitRounded(
    const Quantization& q, const ByteReciprocal& reciprocal) {
  float low = static_cast<float>(q.low() - q.zero) * q.scale;
  float high = static_cast<float>(q.high() - q.zero) * q.scale;
  const Expr x = TakeLimits(q, &low, &high);
  Value* v = EmitExpr(x);
  FloatMath f(b_, m_, v);
  RoundedByte rounded;
  if (q.to.is_int()) rounded.is_nan = f.IsNan(v);
  v = f.Pick(f.Greater(v, f.C(low)), v, f.C(low));
  v = f.Pick(f.Less(v, f.C(high)), v, f.C(high));
  if (!m_.has_fma) {
    v = f.Div(v, f.C(q.scale));
  } else if (reciprocal.low == 0) {
    v = f.Mul(v, f.C(reciprocal.high));
  } else {
    v = f.MulAdd(v, f.C(reciprocal.high), f.Mul(v, f.C(reciprocal.low)));
  }
  rounded.sum = f.Add(v, f.C(kWhole));
  return rounded;
}

Value* KernelEmitter::EmitQuantized(const tir::Cast& e) {
  const std::optional<Quantization> q = AsQuantization(e);
  if (!q) return nullptr;
  const std::optional<ByteReciprocal>& reciprocal = ReciprocalFor(*q);
  if (!reciprocal) return nullptr;
  const RoundedByte rounded = EmitRounded(*q, *reciprocal);
  FloatMath f(b_, m_, rounded.sum);
  // The last byte of kWhole itself is 0.
  Value* whole = b_.CreateAdd(f.Bits(rounded.sum), f.I(q->zero));
  if (rounded.is_nan != nullptr) whole = f.Pick(rounded.is_nan, f.I(0), whole);
  return b_.CreateTrunc(whole, module_->ValueType(e.dtype));
}

Value* KernelEmitter::EmitDequantized(const tir::Cast& e) {
  if (e.dtype.element() != DataType::Float(32) ||
      e.value->dtype.element() != DataType::Int(32)) {
    return nullptr;
  }
  Expr value = e.value;
  double zero = 0;
  const auto* less = As<tir::Binary>(value);
  if (less != nullptr && less->op == BinaryOp::kSub) {
    const std::optional<double> term = NumberOf(less->b);
    if (!term || std::abs(*term) > 255) return nullptr;
    zero = *term;
    value = less->a;
  }
  const auto* wide = As<tir::Cast>(value);
  const auto* byte = wide == nullptr ? nullptr : As<tir::Cast>(wide->value);
  if (byte == nullptr) return nullptr;
  const std::optional<Quantization> q = AsQuantization(*byte);
  if (!q) return nullptr;
  const std::optional<ByteReciprocal>& reciprocal = ReciprocalFor(*q);
  if (!reciprocal) return nullptr;
  const RoundedByte rounded = EmitRounded(*q, *reciprocal);
  FloatMath f(b_, m_, rounded.sum);
  Value* number = f.Sub(rounded.sum, f.C(kWhole - (q->zero - zero)));
  return rounded.is_nan == nullptr ? number
                                   : f.Pick(rounded.is_nan, f.C(-zero), number);
}

}  // namespace ingot::codegen
