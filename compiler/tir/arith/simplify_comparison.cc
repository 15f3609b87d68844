// Comparisons of i64 scalars.
#include <algorithm>

#include "compiler/tir/arith/simplifier.h"

namespace ingot::tir {

Expr Simplifier::Comparison(const Expr& e, const Binary& node) {
  const Affine a = ToAffine(node.a);
  const Affine b = ToAffine(node.b);
  if (MayOverflow(a) || MayOverflow(b)) {
    return MakeBinary(node.op, a.ToExpr(), b.ToExpr());
  }
  switch (node.op) {
    case BinaryOp::kLt:
      return OrderedComparison(true, a - b);
    case BinaryOp::kLe:
      return OrderedComparison(false, a - b);
    case BinaryOp::kGt:
      return OrderedComparison(true, b - a);
    case BinaryOp::kGe:
      return OrderedComparison(false, b - a);
    case BinaryOp::kEq:
      return Equality(true, a - b);
    default:
      return Equality(false, a - b);
  }
}

// d < 0 or d <= 0.
Expr Simplifier::OrderedComparison(bool strict, Affine d) {
  if (!strict) d.AddConstant(-1);  // d <= 0 is d - 1 < 0
  if (ProveNonNegative(d)) return MakeBool(false);
  Affine negated = d;
  negated.Scale(-1);
  negated.AddConstant(-1);
  if (ProveNonNegative(negated)) return MakeBool(true);
  // g * x + c < 0 is x + floor(c / g) < 0.
  const int64_t g = std::max<int64_t>(CoefficientGcd(d), 1);
  const int64_t c = FloorDivInt(d.constant, g);
  d = DivideTerms(d, g);
  // Positive terms on the left, negative ones on the right; where there are
  // only negative ones, on the left of the opposite comparison.
  Affine left, right;
  for (const Term& term : d.terms) {
    Affine one;
    one.terms.push_back(term);
    (term.coefficient > 0 ? left : right)
        .Add(one, term.coefficient > 0 ? 1 : -1);
  }
  if (left.IsConstant()) return Ge(right.ToExpr(), MakeInt(c + 1));
  if (right.IsConstant()) return Lt(left.ToExpr(), MakeInt(-c));
  if (c == -1) return Le(left.ToExpr(), right.ToExpr());
  if (c > 0) {
    left.constant = c;
  } else {
    right.constant = -c;
  }
  return Lt(left.ToExpr(), right.ToExpr());
}

// d == 0 or d != 0.
Expr Simplifier::Equality(bool equal, Affine d) {
  if (d.IsConstant()) return MakeBool((d.constant == 0) == equal);
  const int64_t g = std::max<int64_t>(CoefficientGcd(d), 1);
  if (d.constant % g != 0) return MakeBool(!equal);
  const int64_t c = d.constant / g;
  d = DivideTerms(d, g);
  d.constant = c;
  Affine above = d;
  above.AddConstant(-1);
  Affine below = d;
  below.Scale(-1);
  below.AddConstant(-1);
  if (ProveNonNegative(above) || ProveNonNegative(below)) {
    return MakeBool(!equal);
  }
  Affine left, right;
  // The first term decides the side, so that a == b and b == a are one.
  const int64_t sign = d.terms[0].coefficient > 0 ? 1 : -1;
  for (const Term& term : d.terms) {
    Affine one;
    one.terms.push_back(term);
    const bool on_left = (term.coefficient > 0) == (sign > 0);
    (on_left ? left : right).Add(one, on_left ? sign : -sign);
  }
  if (right.IsConstant() || sign * c < 0) {
    right.constant = -sign * c;
  } else {
    left.constant = sign * c;
  }
  return MakeBinary(equal ? BinaryOp::kEq : BinaryOp::kNe, left.ToExpr(),
                    right.ToExpr());
}

}  // namespace ingot::tir
