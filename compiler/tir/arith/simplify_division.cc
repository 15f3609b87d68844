// Quotients and remainders, rounded towards minus infinity.
#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "compiler/tir/arith/compare.h"
#include "compiler/tir/arith/simplifier.h"

namespace ingot::tir {
namespace {

// The node if `a` is one factor of coefficient 1, a binary `op` by a positive
// constant, which goes to *c.
const Binary* SingleByConst(const std::vector<Expr>& factors, BinaryOp op,
                            int64_t* c) {
  if (factors.size() != 1) return nullptr;
  const auto* node = As<Binary>(factors[0]);
  if (node == nullptr || node->op != op) return nullptr;
  return AsConstInt(node->b, c) && *c > 0 ? node : nullptr;
}

// a op b, unsimplified but for a of 0.
Affine DivisionAtom(BinaryOp op, const Affine& a, const Affine& b) {
  if (a == Affine(0) && !b.IsConstant()) return Affine();
  return Affine::Atom(MakeBinary(op, a.ToExpr(), b.ToExpr()));
}

// Factors that are quotients or remainders.
size_t CountDivisions(const Affine& a) {
  size_t count = 0;
  for (const Term& term : a.terms) {
    for (const Expr& factor : term.factors) {
      const auto* node = As<Binary>(factor);
      count += node != nullptr && (node->op == BinaryOp::kFloorDiv ||
                                   node->op == BinaryOp::kFloorMod);
    }
  }
  return count;
}

}  // namespace

void Simplifier::Divide(const Affine& a, const Affine& b, Affine* quotient,
                        Affine* rest) {
  *quotient = Affine();
  *rest = a;
  // So that no product below wraps.
  if (!IsSmall(a) || !IsSmall(b)) return;
  const Term& lead = b.terms[0];
  // Polynomial division: each step removes one term that the lead divides.
  for (int step = 0; step < 8; ++step) {
    bool found = false;
    for (const Term& term : rest->terms) {
      if (lead.coefficient == -1 || term.coefficient % lead.coefficient != 0) {
        continue;
      }
      std::vector<Expr> factors;
      std::set_difference(
          term.factors.begin(), term.factors.end(), lead.factors.begin(),
          lead.factors.end(), std::back_inserter(factors),
          [](const Expr& p, const Expr& q) { return CompareExpr(p, q) < 0; });
      if (factors.size() + lead.factors.size() != term.factors.size()) {
        continue;
      }
      Affine q;
      const int64_t k = term.coefficient / lead.coefficient;
      if (factors.empty()) {
        q.constant = k;
      } else {
        q.terms.push_back({k, std::move(factors)});
      }
      quotient->Add(q);
      rest->Add(Multiply(q, b), -1);
      found = true;
      break;
    }
    if (!found) return;
  }
}

Simplifier::Division Simplifier::DivideSymbolic(const Affine& a,
                                                const Affine& b) {
  Division d;
  if (b.IsConstant() || MayOverflow(a) || MayOverflow(b)) {
    d.rest = a;
    return d;
  }
  Divide(a, b, &d.quotient, &d.rest);
  // Nothing is divided by 0, so what leaves no rest is exact.
  d.whole = d.rest == Affine(0) || (ProveNonNegative(d.rest) &&
                                    ProveNonNegative(b - d.rest - Affine(1)));
  // A longer rest is no simpler than the dividend.
  if (!d.whole && d.rest.terms.size() > a.terms.size()) {
    d.quotient = Affine();
    d.rest = a;
  }
  return d;
}

Affine Simplifier::FloorDiv(const Affine& a, const Affine& b) {
  if (b.IsConstant() && b.constant > 0) return FloorDivConst(a, b.constant);
  Division d = DivideSymbolic(a, b);
  if (!d.whole) d.quotient.Add(DivisionAtom(BinaryOp::kFloorDiv, d.rest, b));
  return d.quotient;
}

Affine Simplifier::FloorMod(const Affine& a, const Affine& b) {
  if (b.IsConstant() && b.constant > 0) return FloorModConst(a, b.constant);
  Division d = DivideSymbolic(a, b);
  return d.whole ? d.rest : DivisionAtom(BinaryOp::kFloorMod, d.rest, b);
}

std::optional<int64_t> Simplifier::OneQuotient(const Affine& a, int64_t c) {
  const Interval range = Range(a);
  if (range.IsBounded() &&
      FloorDivInt(range.min, c) == FloorDivInt(range.max, c)) {
    return FloorDivInt(range.min, c);
  }
  Affine below = Affine(c - 1);
  below.Add(a, -1);
  if (ProveNonNegative(a) && ProveNonNegative(below)) return 0;
  return std::nullopt;
}

std::optional<Simplifier::Digits> Simplifier::DigitsOf(const Affine& a,
                                                       int64_t c) {
  std::set<int64_t, std::greater<int64_t>> bases = {
      std::gcd(CoefficientGcd(a), c)};
  for (const Term& term : a.terms) {
    bases.insert(std::gcd(term.coefficient, c));
  }
  for (int64_t base : bases) {
    if (base == 1) break;
    Digits digits;
    digits.base = base;
    digits.high.constant = FloorDivInt(a.constant, base);
    digits.low.constant = FloorModInt(a.constant, base);
    for (const Term& term : a.terms) {
      if (term.coefficient % base == 0) {
        digits.high.terms.push_back({term.coefficient / base, term.factors});
      } else {
        digits.low.terms.push_back(term);
      }
    }
    const Interval low = Range(digits.low);
    if (low.min >= 0 && low.max < base) return digits;
  }
  return std::nullopt;
}

Affine Simplifier::FloorDivConst(const Affine& a, int64_t c) {
  if (a.IsConstant()) return Affine(FloorDivInt(a.constant, c));
  if (c == 1) return a;
  if (MayOverflow(a) || c > kHuge) {
    return Affine::Atom(
        MakeBinary(BinaryOp::kFloorDiv, a.ToExpr(), MakeInt(c)));
  }
  // a = c * q + r, with no coefficient of r as large as c.
  Affine q, r;
  for (const Term& term : a.terms) {
    if (term.coefficient / c != 0) {
      q.terms.push_back({term.coefficient / c, term.factors});
    }
    if (term.coefficient % c != 0) {
      r.terms.push_back({term.coefficient % c, term.factors});
    }
  }
  q.constant = FloorDivInt(a.constant, c);
  r.constant = FloorModInt(a.constant, c);
  if (r.IsConstant()) return q;

  if (const std::optional<int64_t> quotient = OneQuotient(r, c)) {
    q.constant += *quotient;
    return q;
  }

  if (const std::optional<Digits> digits = DigitsOf(r, c)) {
    q.Add(FloorDivConst(digits->high, c / digits->base));
    return q;
  }
  if (r.terms.size() == 1 && r.terms[0].coefficient == 1) {
    int64_t inner;
    int64_t product;
    // (x // inner + k) // c is (x + k * inner) // (inner * c).
    const Binary* div =
        SingleByConst(r.terms[0].factors, BinaryOp::kFloorDiv, &inner);
    if (div != nullptr && !__builtin_mul_overflow(inner, c, &product)) {
      Affine x = Decompose(div->a);
      x.AddConstant(r.constant * inner);
      if (!MayOverflow(x)) {
        q.Add(FloorDivConst(x, product));
        return q;
      }
    }
    // (x % inner) // c is (x // c) % (inner // c), when c divides inner.
    const Binary* mod =
        SingleByConst(r.terms[0].factors, BinaryOp::kFloorMod, &inner);
    if (mod != nullptr && inner % c == 0 && r.constant == 0) {
      Affine x = Decompose(mod->a);
      if (!MayOverflow(x)) {
        q.Add(FloorModConst(FloorDivConst(x, c), inner / c));
        return q;
      }
    }
  }
  q.Add(Affine::Atom(MakeBinary(BinaryOp::kFloorDiv, r.ToExpr(), MakeInt(c))));
  return q;
}

Affine Simplifier::FloorModConst(const Affine& a, int64_t c) {
  if (a.IsConstant()) return Affine(FloorModInt(a.constant, c));
  if (c == 1) return Affine();
  if (MayOverflow(a) || c > kHuge) {
    return Affine::Atom(
        MakeBinary(BinaryOp::kFloorMod, a.ToExpr(), MakeInt(c)));
  }
  const Interval whole = Range(a);
  if (whole.min >= 0 && whole.max < c) return a;

  Affine r;
  for (const Term& term : a.terms) {
    const int64_t k = term.coefficient % c;
    if (k == 0) continue;
    // k * (x % m) is k * x modulo k * m, and so modulo c that divides it.
    int64_t m;
    const Binary* mod = SingleByConst(term.factors, BinaryOp::kFloorMod, &m);
    int64_t km;
    if (mod != nullptr && c < kSmall && !__builtin_mul_overflow(k, m, &km) &&
        km % c == 0) {
      Affine x = Decompose(mod->a);
      if (!MayOverflow(x)) {
        for (Term& t : x.terms) t.coefficient %= c;
        x.constant = FloorModInt(x.constant, c);
        r.Add(x, k);
        continue;
      }
    }
    Affine one;
    one.terms.push_back({k, term.factors});
    r.Add(one);
  }
  Affine reduced;
  for (const Term& term : r.terms) {
    if (term.coefficient % c == 0) continue;
    reduced.terms.push_back({term.coefficient % c, term.factors});
  }
  reduced.constant =
      FloorModInt(FloorModInt(r.constant, c) + FloorModInt(a.constant, c), c);
  r = std::move(reduced);
  if (r.IsConstant()) return r;

  if (const std::optional<int64_t> quotient = OneQuotient(r, c)) {
    r.constant -= *quotient * c;
    return r;
  }

  if (const std::optional<Digits> digits = DigitsOf(r, c)) {
    Affine result = FloorModConst(digits->high, c / digits->base);
    result.Scale(digits->base);
    result.Add(digits->low);
    return result;
  }
  return Affine::Atom(MakeBinary(BinaryOp::kFloorMod, r.ToExpr(), MakeInt(c)));
}

void Simplifier::JoinQuotients(Affine* a) {
  for (size_t i = 0; i < a->terms.size(); ++i) {
    const Term& term = a->terms[i];
    if (term.factors.size() != 1) continue;
    const auto* mod = As<Binary>(term.factors[0]);
    if (mod == nullptr || mod->op != BinaryOp::kFloorMod) continue;
    // k * (x % c): take k * x - k * c * (x // c) for it, if that has fewer
    // divisions, or as many and is shorter.
    const int64_t k = term.coefficient;
    const Affine x = Decompose(mod->a);
    const Affine c = Decompose(mod->b);
    if (MayOverflow(x) || MayOverflow(c)) continue;
    Affine joined = *a;
    joined.Add(Affine::Atom(term.factors[0]), -k);
    joined.Add(Multiply(FloorDiv(x, c), c), -k);
    joined.Add(x, k);
    const auto length = [](const Affine& sum) {
      return std::pair(CountDivisions(sum), sum.terms.size());
    };
    if (length(joined) >= length(*a)) continue;
    *a = std::move(joined);
    i = static_cast<size_t>(-1);  // from the start; each turn shortens a
  }
}

}  // namespace ingot::tir
