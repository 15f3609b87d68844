#include "compiler/tir/arith/bounds.h"

#include <utility>

#include "compiler/tir/arith/simplifier.h"
#include "compiler/tir/typing.h"

namespace ingot::tir {

Bounds Bounds::Dimensions() {
  Bounds bounds;
  bounds.unknown_.min = 0;
  return bounds;
}

const Bounds::Known* Bounds::Find(const Var* var) const {
  auto it = known_.find(var);
  return it == known_.end() ? nullptr : &it->second;
}

void Bounds::Set(const Var* var, int64_t min, int64_t max) {
  Known known;
  known.interval = {min, max};
  known_[var] = std::move(known);
}

void Bounds::Set(const Var* var, const Affine& min, const Affine& max) {
  Known known;
  {
    Simplifier simplifier(this);
    // Loops over loaded ranges have only the bounds that cannot wrap.
    if (!simplifier.MayOverflow(min) && !simplifier.MayOverflow(max)) {
      known.interval = {simplifier.Range(min).min, simplifier.Range(max).max};
      if (!min.IsConstant()) known.lower = min;
      if (!max.IsConstant()) known.upper = max;
    }
  }
  known_[var] = std::move(known);
}

void Bounds::SetLoop(const Var* var, const Expr& min, const Expr& extent) {
  const Affine lower = ToAffine(min);
  Set(var, lower, lower + ToAffine(extent) - Affine(1));
}

void Bounds::SetValue(const Var* var, const Expr& value) {
  Known known;
  Simplifier simplifier(this);
  known.is_data = simplifier.IsData(value);
  if (value->dtype == DataType::Int(64)) {
    Affine a = simplifier.ToAffine(value);
    if (!simplifier.MayOverflow(a)) {
      known.interval = simplifier.Range(a);
      if (!known.is_data) {
        known.lower = a;
        known.upper = std::move(a);
      }
    }
  }
  known_[var] = std::move(known);
}

void Bounds::Forget(const Var* var) { known_.erase(var); }

void Bounds::PushFact(const Expr& condition) {
  if (const auto* negation = As<Unary>(condition)) {
    if (negation->op == UnaryOp::kNot) PushFactNot(negation->a);
    return;
  }
  const auto* node = As<Binary>(condition);
  if (node == nullptr) return;
  if (node->op == BinaryOp::kAnd) {
    PushFact(node->a);
    PushFact(node->b);
    return;
  }
  if (node->a->dtype != DataType::Int(64)) return;
  Affine a, b;
  {
    Simplifier simplifier(this);
    a = simplifier.ToAffine(node->a);
    b = simplifier.ToAffine(node->b);
    if (simplifier.MayOverflow(a) || simplifier.MayOverflow(b)) return;
  }
  Affine b_minus_a = b;
  b_minus_a.Add(a, -1);
  Affine a_minus_b = std::move(a);
  a_minus_b.Add(b, -1);
  switch (node->op) {
    case BinaryOp::kLt:
      b_minus_a.AddConstant(-1);
      facts_.push_back(std::move(b_minus_a));
      break;
    case BinaryOp::kLe:
      facts_.push_back(std::move(b_minus_a));
      break;
    case BinaryOp::kGt:
      a_minus_b.AddConstant(-1);
      facts_.push_back(std::move(a_minus_b));
      break;
    case BinaryOp::kGe:
      facts_.push_back(std::move(a_minus_b));
      break;
    case BinaryOp::kEq:
      facts_.push_back(std::move(a_minus_b));
      facts_.push_back(std::move(b_minus_a));
      break;
    default:
      break;
  }
}

void Bounds::PushFactNot(const Expr& condition) {
  if (const auto* negation = As<Unary>(condition)) {
    if (negation->op == UnaryOp::kNot) PushFact(negation->a);
    return;
  }
  const auto* node = As<Binary>(condition);
  if (node == nullptr) return;
  switch (node->op) {
    case BinaryOp::kOr:
      PushFactNot(node->a);
      PushFactNot(node->b);
      break;
    case BinaryOp::kLt:
    case BinaryOp::kLe:
    case BinaryOp::kGt:
    case BinaryOp::kGe:
    case BinaryOp::kNe: {
      if (node->a->dtype != DataType::Int(64)) return;
      static constexpr BinaryOp kOpposite[] = {BinaryOp::kNe, BinaryOp::kEq,
                                               BinaryOp::kGe, BinaryOp::kGt,
                                               BinaryOp::kLe, BinaryOp::kLt};
      const int i =
          static_cast<int>(node->op) - static_cast<int>(BinaryOp::kEq);
      PushFact(MakeBinary(kOpposite[i], node->a, node->b));
      break;
    }
    default:
      break;
  }
}

Affine Bounds::ToAffine(const Expr& e) const {
  return Simplifier(this).ToAffine(e);
}

bool Bounds::ProveNonNegative(const Affine& a) const {
  Simplifier simplifier(this);
  return !simplifier.MayOverflow(a) && simplifier.ProveNonNegative(a);
}

std::optional<bool> Bounds::Decide(const Expr& condition) const {
  if (const auto* imm = As<IntImm>(condition)) return imm->value != 0;
  if (const auto* unary = As<Unary>(condition)) {
    if (unary->op != UnaryOp::kNot) return std::nullopt;
    const std::optional<bool> value = Decide(unary->a);
    if (!value) return std::nullopt;
    return !*value;
  }
  const auto* node = As<Binary>(condition);
  if (node == nullptr) return std::nullopt;
  if (node->op == BinaryOp::kAnd || node->op == BinaryOp::kOr) {
    const bool is_and = node->op == BinaryOp::kAnd;
    const std::optional<bool> a = Decide(node->a), b = Decide(node->b);
    if (a && *a != is_and) return !is_and;
    if (b && *b != is_and) return !is_and;
    if (a && b) return is_and;
    return std::nullopt;
  }
  if (!IsComparison(node->op) || node->a->dtype != DataType::Int(64)) {
    return std::nullopt;
  }
  const Expr simple = Simplifier(this).Run(condition);
  if (const auto* imm = As<IntImm>(simple)) return imm->value != 0;
  return std::nullopt;
}

}  // namespace ingot::tir
