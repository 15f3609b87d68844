#include "compiler/codegen/quantization.h"

#include <algorithm>
#include <cmath>

namespace ingot::codegen {
namespace {

using tir::As;
using tir::BinaryOp;
using tir::Expr;

// The number that each lane is; nothing where they are none that is known.
std::optional<double> NumberOf(const Expr& e) {
  if (const auto* all = As<tir::Broadcast>(e)) return NumberOf(all->value);
  if (const auto* x = As<tir::FloatImm>(e)) return x->value;
  if (const auto* x = As<tir::IntImm>(e)) {
    return static_cast<double>(x->value);
  }
  return std::nullopt;
}

int FirstByte(DataType t) { return t.is_int() ? -128 : 0; }

// The number that becomes so much more than the zero.
float Times(int steps, float scale) {
  return static_cast<float>(steps) * scale;
}

// Moves limits of x to those of the quantisation, as far as NaN passes through
// them: of u8 it is the lower one.
void TakeLimits(Quantization* q) {
  while (const auto* limited = As<tir::Binary>(q->x)) {
    const std::optional<double> limit = NumberOf(limited->a);
    if (!limit || !(*limit >= q->least || limited->op == BinaryOp::kMax) ||
        !(*limit <= q->most || limited->op == BinaryOp::kMin)) {
      break;
    }
    if (limited->op == BinaryOp::kMin) {
      q->most = std::min(q->most, static_cast<float>(*limit));
    } else if (limited->op == BinaryOp::kMax &&
               (*limit <= q->least || q->to.is_int())) {
      q->least = std::max(q->least, static_cast<float>(*limit));
    } else {
      break;
    }
    q->x = limited->b;
  }
}

}  // namespace

bool Quantization::HasLimitBelow() const {
  return least > Times(FirstByte(to) - zero, scale);
}

std::optional<Quantization> QuantizationFinder::Find(const tir::Cast& e) {
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
  const int first = FirstByte(e.dtype), last = first + 255;
  if (!scale || zero != std::rint(zero) || zero < first || zero > last) {
    return std::nullopt;
  }
  Quantization q;
  q.x = quotient->a;
  q.scale = static_cast<float>(*scale);
  q.zero = static_cast<int>(zero);
  q.to = e.dtype;
  const auto [found, is_new] =
      reciprocals_.try_emplace({q.scale, first - q.zero});
  if (is_new) {
    found->second = FindByteReciprocal(q.scale, first - q.zero, last - q.zero);
  }
  if (!found->second) return std::nullopt;
  q.reciprocal = *found->second;
  q.least = Times(first - q.zero, q.scale);
  q.most = Times(last - q.zero, q.scale);
  TakeLimits(&q);
  return q;
}

std::optional<Dequantization> QuantizationFinder::FindDequantization(
    const tir::Cast& e) {
  if (e.dtype.element() != DataType::Float(32) ||
      e.value->dtype.element() != DataType::Int(32)) {
    return std::nullopt;
  }
  Expr value = e.value;
  double zero = 0;
  const auto* less = As<tir::Binary>(value);
  if (less != nullptr && less->op == BinaryOp::kSub) {
    const std::optional<double> term = NumberOf(less->b);
    if (!term || std::abs(*term) > 255) return std::nullopt;
    zero = *term;
    value = less->a;
  }
  const auto* wide = As<tir::Cast>(value);
  const auto* byte = wide == nullptr ? nullptr : As<tir::Cast>(wide->value);
  if (byte == nullptr) return std::nullopt;
  const std::optional<Quantization> q = Find(*byte);
  if (!q) return std::nullopt;
  return Dequantization{*q, static_cast<int>(zero)};
}

}  // namespace ingot::codegen
