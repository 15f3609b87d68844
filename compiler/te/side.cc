#include "compiler/te/side.h"

#include "compiler/tir/visitor.h"

namespace ingot::te {

using tir::As;
using tir::Binary;
using tir::BinaryOp;
using tir::MakeBinary;
using tir::Var;

namespace {

bool DependsOnBox(const Expr& e, const Box& box) {
  class Finder : public tir::ExprVisitor {
   public:
    explicit Finder(const Box& box) : box_(box) {}
    bool found = false;

   protected:
    void VisitVar(const Var& var) override {
      if (box_.count(&var) != 0) found = true;
    }

   private:
    const Box& box_;
  };
  Finder finder(box);
  finder.Visit(e);
  return finder.found;
}

// `e` with every variable that has one value in the box replaced by it.
Expr FixPoints(const Expr& e, const Box& box) {
  std::map<const Var*, Expr> fixed;
  for (const auto& [var, side] : box) {
    if (side.extent.AsConst() == std::optional<int64_t>(1)) {
      fixed[var] = side.min.ToExpr();
    }
  }
  return fixed.empty() ? e : tir::Substitute(e, fixed);
}

// The side of a quotient or remainder by a positive constant.
std::optional<Side> DivisionSide(const Expr& e, const Box& box,
                                 const Bounds& bounds) {
  const auto* b = As<Binary>(e);
  int64_t c = 0;
  if (b == nullptr || !tir::AsConstInt(b->b, &c) || c <= 0) return std::nullopt;
  if (b->op != BinaryOp::kFloorDiv && b->op != BinaryOp::kFloorMod) {
    return std::nullopt;
  }
  const std::optional<Side> inner = SideOf(b->a, box, bounds);
  if (!inner) return std::nullopt;
  const std::optional<int64_t> extent = inner->extent.AsConst();
  const bool aligned = inner->min.IsMultipleOf(c);
  if (b->op == BinaryOp::kFloorMod) {
    if (extent && *extent <= c && aligned) {
      return Side{Affine(0), Affine(*extent), inner->inexact};
    }
    return Side{Affine(0), Affine(c), true};
  }
  if (!extent) return std::nullopt;
  const Affine low = bounds.ToAffine(
      MakeBinary(BinaryOp::kFloorDiv, inner->min.ToExpr(), b->b));
  if (aligned) {
    return Side{low, Affine((*extent + c - 1) / c), inner->inexact};
  }
  return Side{low, Affine((*extent - 1 + c - 1) / c + 1), true};
}

// The side of a term without its coefficient.
std::optional<Side> FactorsSide(const tir::Term& term, const Box& box,
                                const Bounds& bounds) {
  bool depends = false;
  for (const Expr& factor : term.factors) {
    depends = depends || DependsOnBox(factor, box);
  }
  if (!depends) {
    Affine value;
    value.terms.push_back({1, term.factors});
    return Side{value, Affine(1)};
  }
  if (term.factors.size() != 1) return std::nullopt;
  const Expr& factor = term.factors[0];
  if (const auto* var = As<Var>(factor)) return box.at(var);
  return DivisionSide(factor, box, bounds);
}

}  // namespace

std::optional<Side> SideOf(const Expr& e, const Box& box,
                           const Bounds& bounds) {
  const Affine form = bounds.ToAffine(FixPoints(e, box));
  Side result{Affine(form.constant), Affine(1)};
  for (const tir::Term& term : form.terms) {
    const std::optional<Side> side = FactorsSide(term, box, bounds);
    if (!side) return std::nullopt;
    const Affine width = side->extent - Affine(1);
    const int64_t k = term.coefficient;
    result.min.Add(k > 0 ? side->min : side->min + width, k);
    result.extent.Add(width, k > 0 ? k : -k);
    result.inexact = result.inexact || side->inexact;
  }
  return result;
}

const Var* SingleVar(const Affine& a) {
  if (a.constant != 0 || a.terms.size() != 1) return nullptr;
  const tir::Term& term = a.terms[0];
  return term.factors.size() == 1 ? As<Var>(term.factors[0]) : nullptr;
}

}  // namespace ingot::te
