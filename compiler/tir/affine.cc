#include "compiler/tir/affine.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ingot::tir {
namespace {

bool IsInfinite(int64_t v) {
  return v == Interval::kNone || v == Interval::kNoneMax;
}

int64_t Saturated(bool negative) {
  return negative ? Interval::kNone : Interval::kNoneMax;
}

// `if_both` settles infinity minus infinity.
int64_t AddSaturating(int64_t a, int64_t b, int64_t if_both) {
  if (IsInfinite(a) && IsInfinite(b) && a != b) return if_both;
  if (IsInfinite(a)) return a;
  if (IsInfinite(b)) return b;
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? Saturated(a < 0) : sum;
}

int64_t MultiplySaturating(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  const bool negative = (a < 0) != (b < 0);
  if (IsInfinite(a) || IsInfinite(b)) return Saturated(negative);
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? Saturated(negative) : product;
}

int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

template <typename T>
int Compare(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

int CompareTypes(DataType a, DataType b) {
  if (int c = Compare(a.code, b.code)) return c;
  if (int c = Compare(a.bits, b.bits)) return c;
  return Compare(a.lanes, b.lanes);
}

int CompareAll(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (int c = Compare(a.size(), b.size())) return c;
  for (size_t i = 0; i < a.size(); ++i) {
    if (int c = CompareExpr(a[i], b[i])) return c;
  }
  return 0;
}

int Rank(ExprKind kind) {
  return kind == ExprKind::kVar ? -1 : static_cast<int>(kind);
}

template <typename T>
const T& To(const Expr& e) {
  return static_cast<const T&>(*e);
}

}  // namespace

Interval operator+(Interval a, Interval b) {
  return {AddSaturating(a.min, b.min, Interval::kNone),
          AddSaturating(a.max, b.max, Interval::kNoneMax)};
}

Interval operator*(Interval a, Interval b) {
  const int64_t corners[] = {
      MultiplySaturating(a.min, b.min), MultiplySaturating(a.min, b.max),
      MultiplySaturating(a.max, b.min), MultiplySaturating(a.max, b.max)};
  return {*std::min_element(corners, corners + 4),
          *std::max_element(corners, corners + 4)};
}

Interval Union(Interval a, Interval b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

Interval Intersect(Interval a, Interval b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

int64_t FloorDivInt(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

int64_t FloorModInt(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return (r != 0 && (r < 0) != (b < 0)) ? r + b : r;
}

int CompareExpr(const Expr& a, const Expr& b) {
  if (a == b) return 0;
  if (int c = Compare(Rank(a->kind), Rank(b->kind))) return c;
  if (int c = CompareTypes(a->dtype, b->dtype)) return c;
  switch (a->kind) {
    case ExprKind::kIntImm:
      return Compare(To<IntImm>(a).value, To<IntImm>(b).value);
    case ExprKind::kFloatImm:
      return std::memcmp(&To<FloatImm>(a).value, &To<FloatImm>(b).value,
                         sizeof(double));
    case ExprKind::kVar:
      return Compare(To<Var>(a).id, To<Var>(b).id);
    case ExprKind::kUnary:
      if (int c = Compare(To<Unary>(a).op, To<Unary>(b).op)) return c;
      return CompareExpr(To<Unary>(a).a, To<Unary>(b).a);
    case ExprKind::kBinary:
      if (int c = Compare(To<Binary>(a).op, To<Binary>(b).op)) return c;
      if (int c = CompareExpr(To<Binary>(a).a, To<Binary>(b).a)) return c;
      return CompareExpr(To<Binary>(a).b, To<Binary>(b).b);
    case ExprKind::kSelect: {
      const auto &x = To<Select>(a), &y = To<Select>(b);
      if (int c = CompareExpr(x.condition, y.condition)) return c;
      if (int c = CompareExpr(x.on_true, y.on_true)) return c;
      return CompareExpr(x.on_false, y.on_false);
    }
    case ExprKind::kCast:
      return CompareExpr(To<Cast>(a).value, To<Cast>(b).value);
    case ExprKind::kLoad: {
      const auto &x = To<Load>(a), &y = To<Load>(b);
      if (int c = CompareAll(x.indices, y.indices)) return c;
      if (int c = Compare(x.buffer->name, y.buffer->name)) return c;
      return Compare(x.buffer.get(), y.buffer.get());
    }
    case ExprKind::kRamp:
      if (int c = CompareExpr(To<Ramp>(a).base, To<Ramp>(b).base)) return c;
      return CompareExpr(To<Ramp>(a).stride, To<Ramp>(b).stride);
    case ExprKind::kBroadcast:
      return CompareExpr(To<Broadcast>(a).value, To<Broadcast>(b).value);
    case ExprKind::kCall:
      if (int c = Compare(To<Call>(a).intrinsic, To<Call>(b).intrinsic)) {
        return c;
      }
      return CompareAll(To<Call>(a).args, To<Call>(b).args);
  }
  return 0;
}

int CompareFactors(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  return CompareAll(a, b);
}

Affine Affine::Constant(int64_t value) {
  Affine result;
  result.constant = value;
  return result;
}

Affine Affine::Atom(Expr factor) {
  Affine result;
  if (AsConstInt(factor, &result.constant)) return result;
  result.terms.push_back({1, {std::move(factor)}});
  return result;
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
