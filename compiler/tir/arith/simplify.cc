#include "compiler/tir/arith/simplify.h"

#include "compiler/tir/arith/simplifier.h"

namespace ingot::tir {

Expr Simplify(const Expr& e, const Bounds* bounds) {
  return Simplifier(bounds).Run(e);
}

Affine ToAffine(const Expr& e) { return Simplifier(nullptr).ToAffine(e); }

bool ProveEqual(const Expr& a, const Expr& b, const Bounds* bounds) {
  if (a->dtype != b->dtype) return false;
  if (Equal(a, b)) return true;
  Simplifier simplifier(bounds);
  if (a->dtype != DataType::Int(64)) {
    return Equal(simplifier.Run(a), simplifier.Run(b));
  }
  return simplifier.ToAffine(a) == simplifier.ToAffine(b);
}

bool Prove(const Expr& condition, const Bounds* bounds) {
  const Expr e = Simplifier(bounds).Run(condition);
  return e->dtype == DataType::Bool() && IsConstInt(e, 1);
}

std::optional<int64_t> ConstUpperBound(const Expr& e, const Bounds* bounds) {
  if (e->dtype != DataType::Int(64)) return std::nullopt;
  Simplifier simplifier(bounds);
  const Affine a = simplifier.ToAffine(e);
  const int64_t max = simplifier.Range(a).max;
  if (max == Interval::kNoneMax || simplifier.MayOverflow(a)) {
    return std::nullopt;
  }
  return max;
}

std::optional<int64_t> ConstLowerBound(const Expr& e, const Bounds* bounds) {
  if (e->dtype != DataType::Int(64)) return std::nullopt;
  Simplifier simplifier(bounds);
  const Affine a = simplifier.ToAffine(e);
  const int64_t min = simplifier.Range(a).min;
  if (min == Interval::kNone || simplifier.MayOverflow(a)) return std::nullopt;
  return min;
}

}  // namespace ingot::tir
