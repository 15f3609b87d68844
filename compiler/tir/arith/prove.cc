// Proofs that a value is not negative.
#include <utility>
#include <vector>

#include "compiler/tir/arith/simplifier.h"

namespace ingot::tir {
namespace {

// Proofs look at no more facts than this, the newest ones.
constexpr size_t kMaxFacts = 16;
// And at none with so many terms more than what is to be proven: too many would
// be left over, and a concatenation of a hundred parts has facts of a hundred
// terms.
constexpr size_t kMaxMoreTerms = 8;
constexpr int kMaxSymbolicSteps = 8;
// In how many ways quotients, minima and maxima are replaced by a bound.
constexpr int kMaxChoices = 8;

}  // namespace

bool Simplifier::LowerOnce(const Affine& a, Affine* lower) {
  if (bounds_ == nullptr) return false;
  // The youngest variable first: its bounds are in terms of older ones.
  const Term* best = nullptr;
  const Var* best_var = nullptr;
  const Affine* best_bound = nullptr;
  for (const Term& term : a.terms) {
    for (size_t i = 0; i < term.factors.size(); ++i) {
      const auto* var = As<Var>(term.factors[i]);
      if (var == nullptr) continue;
      const Bounds::Known* known = bounds_->Find(var);
      if (known == nullptr) continue;
      const auto& bound = term.coefficient > 0 ? known->lower : known->upper;
      if (!bound.has_value()) continue;
      bool monotone = true;
      for (size_t j = 0; j < term.factors.size(); ++j) {
        if (j != i && Range(term.factors[j]).min < 0) monotone = false;
      }
      if (!monotone || (best_var != nullptr && best_var->id >= var->id)) {
        continue;
      }
      best = &term;
      best_var = var;
      best_bound = &*bound;
    }
  }
  if (best == nullptr) return false;
  Affine rest = Affine(1);
  bool skipped = false;
  for (const Expr& factor : best->factors) {
    if (!skipped && factor.get() == best_var) {
      skipped = true;
    } else {
      rest = Multiply(rest, Affine::Atom(factor));
    }
  }
  *lower = a;
  Affine term;
  term.terms.push_back(*best);
  lower->Add(term, -1);
  lower->Add(Multiply(*best_bound, rest), best->coefficient);
  return true;
}

std::vector<Affine> Simplifier::LowerBounds(const Term& term) {
  const auto* node =
      term.factors.size() == 1 ? As<Binary>(term.factors[0]) : nullptr;
  const int64_t k = term.coefficient;
  // So that no product below wraps.
  if (node == nullptr || k <= -kSmall || k >= kSmall) return {};
  int64_t c;
  switch (node->op) {
    case BinaryOp::kFloorDiv: {
      if (!AsConstInt(node->b, &c) || c <= 0 || k % c != 0) return {};
      // x - (c - 1) <= c * (x // c) <= x.
      Affine x = Decompose(node->a);
      if (MayOverflow(x) || !IsSmall(x)) return {};
      if (k > 0) x.AddConstant(1 - c);
      x.Scale(k / c);
      return {std::move(x)};
    }
    case BinaryOp::kMin:
    case BinaryOp::kMax: {
      // The minimum is below each side and the maximum above.
      if ((node->op == BinaryOp::kMin) != (k < 0)) return {};
      Affine a = Decompose(node->a), b = Decompose(node->b);
      if (MayOverflow(a) || MayOverflow(b)) return {};
      if (!IsSmall(a) || !IsSmall(b)) return {};
      return {a * k, b * k};
    }
    default:
      return {};
  }
}

bool Simplifier::ProveBySymbols(Affine a, int* choices) {
  for (int step = 0; step < kMaxSymbolicSteps; ++step) {
    if (Range(a).min >= 0) return true;
    Affine lower;
    if (!LowerOnce(a, &lower)) break;
    a = std::move(lower);
  }
  if (Range(a).min >= 0) return true;
  for (const Term& term : a.terms) {
    for (const Affine& bound : LowerBounds(term)) {
      if (--*choices < 0) return false;
      Affine lower = a;
      Affine whole;
      whole.terms.push_back(term);
      lower.Add(whole, -1);
      lower.Add(bound);
      if (ProveBySymbols(std::move(lower), choices)) return true;
    }
  }
  return false;
}

bool Simplifier::ProveNonNegative(const Affine& a) {
  if (a.IsConstant()) return a.constant >= 0;
  if (bounds_ == nullptr) return Range(a).min >= 0;
  int choices = kMaxChoices;
  if (ProveBySymbols(a, &choices)) return true;
  const auto& facts = bounds_->facts_;
  const size_t first = facts.size() > kMaxFacts ? facts.size() - kMaxFacts : 0;
  for (size_t i = facts.size(); i > first; --i) {
    if (facts[i - 1].terms.size() > a.terms.size() + kMaxMoreTerms) continue;
    Affine difference = a;
    difference.Add(facts[i - 1], -1);
    choices = kMaxChoices;
    if (ProveBySymbols(std::move(difference), &choices)) return true;
  }
  return false;
}

}  // namespace ingot::tir
