#include "compiler/tir/arith/affine.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "compiler/tir/arith/compare.h"

namespace ingot::tir {
namespace {

int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

}  // namespace

Affine Affine::Atom(Expr factor) {
  Affine result;
  if (AsConstInt(factor, &result.constant)) return result;
  result.terms.push_back({1, {std::move(factor)}});
  return result;
}

std::optional<int64_t> Affine::AsConst() const {
  if (!terms.empty()) return std::nullopt;
  return constant;
}

bool Affine::IsMultipleOf(int64_t c) const {
  if (constant % c != 0) return false;
  return std::all_of(terms.begin(), terms.end(),
                     [c](const Term& t) { return t.coefficient % c == 0; });
}

int64_t Affine::CoefficientOf(const Var* var) const {
  for (const Term& t : terms) {
    if (t.factors.size() == 1 && t.factors[0].get() == var) {
      return t.coefficient;
    }
  }
  return 0;
}

void Affine::Add(const Affine& other, int64_t scale) {
  constant = WrappingAdd(constant, WrappingMultiply(other.constant, scale));
  if (other.terms.empty() || scale == 0) return;
  std::vector<Term> merged;
  merged.reserve(terms.size() + other.terms.size());
  size_t i = 0, j = 0;
  while (i < terms.size() || j < other.terms.size()) {
    int order;
    if (i == terms.size()) {
      order = 1;
    } else if (j == other.terms.size()) {
      order = -1;
    } else {
      order = CompareFactors(terms[i].factors, other.terms[j].factors);
    }
    if (order < 0) {
      merged.push_back(std::move(terms[i++]));
      continue;
    }
    int64_t c = WrappingMultiply(other.terms[j].coefficient, scale);
    if (order == 0) c = WrappingAdd(c, terms[i++].coefficient);
    if (c != 0) merged.push_back({c, other.terms[j].factors});
    ++j;
  }
  terms = std::move(merged);
}

void Affine::AddConstant(int64_t value) {
  constant = WrappingAdd(constant, value);
}

void Affine::Scale(int64_t factor) {
  constant = WrappingMultiply(constant, factor);
  size_t kept = 0;
  for (Term& term : terms) {
    term.coefficient = WrappingMultiply(term.coefficient, factor);
    if (term.coefficient == 0) continue;
    if (&terms[kept] != &term) terms[kept] = std::move(term);
    ++kept;
  }
  terms.resize(kept);
}

Expr Affine::ToExpr() const {
  Expr sum;
  auto product = [](const Term& term, int64_t coefficient) {
    Expr e = term.factors[0];
    for (size_t i = 1; i < term.factors.size(); ++i) e = e * term.factors[i];
    if (coefficient == -1) return -e;
    return e * coefficient;
  };
  for (const Term& term : terms) {
    if (term.coefficient <= 0) continue;
    Expr e = product(term, term.coefficient);
    sum = sum == nullptr ? e : sum + e;
  }
  bool constant_done = constant == 0;
  if (sum == nullptr && constant > 0) {
    sum = MakeInt(constant);
    constant_done = true;
  }
  for (const Term& term : terms) {
    if (term.coefficient > 0) continue;
    if (sum == nullptr || term.coefficient == INT64_MIN) {
      Expr e = product(term, term.coefficient);
      sum = sum == nullptr ? e : sum + e;
    } else {
      sum = sum - product(term, -term.coefficient);
    }
  }
  if (sum == nullptr) return MakeInt(constant);
  if (constant_done) return sum;
  if (constant > 0 || constant == INT64_MIN) return sum + constant;
  return sum - (-constant);
}

Affine operator+(Affine a, const Affine& b) {
  a.Add(b);
  return a;
}

Affine operator-(Affine a, const Affine& b) {
  a.Add(b, -1);
  return a;
}

Affine operator*(Affine a, int64_t factor) {
  a.Scale(factor);
  return a;
}

bool operator==(const Affine& a, const Affine& b) {
  return (a - b).AsConst() == std::optional<int64_t>(0);
}

int64_t CoefficientGcd(const Affine& a) {
  int64_t g = 0;
  for (const Term& term : a.terms) {
    if (term.coefficient == INT64_MIN) return 1;
    g = std::gcd(g, term.coefficient);
  }
  return g;
}

// The terms divided by g, without the constant.
Affine DivideTerms(const Affine& a, int64_t g) {
  Affine result = a;
  for (Term& term : result.terms) term.coefficient /= g;
  result.constant = 0;
  return result;
}

Affine Multiply(const Affine& a, const Affine& b) {
  Affine result;
  result.Add(a, b.constant);
  for (const Term& y : b.terms) {
    Affine row;
    for (const Term& x : a.terms) {
      Term term{WrappingMultiply(x.coefficient, y.coefficient), {}};
      if (term.coefficient == 0) continue;
      std::merge(
          x.factors.begin(), x.factors.end(), y.factors.begin(),
          y.factors.end(), std::back_inserter(term.factors),
          [](const Expr& p, const Expr& q) { return CompareExpr(p, q) < 0; });
      Affine one;
      one.terms.push_back(std::move(term));
      row.Add(one);
    }
    Affine constant;
    if (a.constant != 0) {
      constant.terms.push_back(
          {WrappingMultiply(y.coefficient, a.constant), y.factors});
      if (constant.terms[0].coefficient != 0) row.Add(constant);
    }
    result.Add(row);
  }
  return result;
}

}  // namespace ingot::tir
