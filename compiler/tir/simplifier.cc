#include "compiler/tir/simplifier.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "compiler/tir/typing.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

// Products of sums are multiplied out up to this many terms.
constexpr size_t kMaxProductTerms = 32;

// The product of two numbers below this does not overflow.
constexpr int64_t kSmall = int64_t{1} << 30;

bool IsIndex(const Expr& e) { return e->dtype == DataType::Int(64); }

Affine Difference(const Affine& a, const Affine& b) {
  Affine d = a;
  d.Add(b, -1);
  return d;
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

bool IsSmall(const Affine& a) {
  auto small = [](int64_t v) { return v > -kSmall && v < kSmall; };
  for (const Term& term : a.terms) {
    if (!small(term.coefficient)) return false;
  }
  return small(a.constant);
}

// Whether the product has more terms than it is multiplied out to.
bool IsProductOfSums(const Affine& a, const Affine& b) {
  return !a.IsConstant() && !b.IsConstant() &&
         (a.terms.size() + 1) * (b.terms.size() + 1) > kMaxProductTerms;
}

// The node if `a` is one factor of coefficient 1, a binary `op` by a positive
// constant, which goes to *c.
const Binary* SingleByConst(const std::vector<Expr>& factors, BinaryOp op,
                            int64_t* c) {
  if (factors.size() != 1) return nullptr;
  const auto* node = As<Binary>(factors[0]);
  if (node == nullptr || node->op != op) return nullptr;
  return AsConstInt(node->b, c) && *c > 0 ? node : nullptr;
}

}  // namespace

Expr Simplifier::Run(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kVar:
      return e;
    default:
      break;
  }
  if (steps_ > kMaxSteps) return e;
  Expr result = IsIndex(e) ? ToAffine(e).ToExpr() : RunChildren(e);
  return Equal(e, result) ? e : result;
}

Expr Simplifier::RunChildren(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kUnary: {
      const auto& node = static_cast<const Unary&>(*e);
      Expr a = Run(node.a);
      const auto* compare = As<Binary>(a);
      // NaN makes the opposite comparison of floats another thing.
      if (node.op == UnaryOp::kNot && compare != nullptr &&
          IsComparison(compare->op) && !compare->a->dtype.is_float()) {
        static constexpr BinaryOp kOpposite[] = {BinaryOp::kNe, BinaryOp::kEq,
                                                 BinaryOp::kGe, BinaryOp::kGt,
                                                 BinaryOp::kLe, BinaryOp::kLt};
        const int i =
            static_cast<int>(compare->op) - static_cast<int>(BinaryOp::kEq);
        return MakeBinary(kOpposite[i], compare->a, compare->b);
      }
      return a == node.a ? e : MakeUnary(node.op, a);
    }
    case ExprKind::kBinary: {
      const auto& node = static_cast<const Binary&>(*e);
      if (IsComparison(node.op) && IsIndex(node.a)) return Comparison(e, node);
      return RunBinary(node);
    }
    case ExprKind::kSelect: {
      const auto& node = static_cast<const Select&>(*e);
      Expr condition = Run(node.condition);
      Expr on_true = Run(node.on_true);
      Expr on_false = Run(node.on_false);
      if (Equal(on_true, on_false)) return on_true;
      return MakeSelect(condition, on_true, on_false);
    }
    case ExprKind::kCast:
      return MakeCast(e->dtype, Run(static_cast<const Cast&>(*e).value));
    case ExprKind::kLoad: {
      const auto& node = static_cast<const Load&>(*e);
      std::vector<Expr> indices;
      for (const Expr& index : node.indices) indices.push_back(Run(index));
      return MakeLoad(node.buffer, std::move(indices));
    }
    case ExprKind::kRamp: {
      const auto& node = static_cast<const Ramp&>(*e);
      return MakeRamp(Run(node.base), Run(node.stride), e->dtype.lanes);
    }
    case ExprKind::kBroadcast:
      return MakeBroadcast(Run(static_cast<const Broadcast&>(*e).value),
                           e->dtype.lanes);
    case ExprKind::kCall: {
      const auto& node = static_cast<const Call&>(*e);
      std::vector<Expr> args;
      for (const Expr& arg : node.args) args.push_back(Run(arg));
      return MakeCall(node.intrinsic, std::move(args));
    }
    default:
      return e;
  }
}

Expr Simplifier::RunBinary(const Binary& node) {
  Expr a = Run(node.a);
  Expr b = Run(node.b);
  if (!a->dtype.is_float() && Equal(a, b)) {
    switch (node.op) {
      case BinaryOp::kAnd:
      case BinaryOp::kOr:
      case BinaryOp::kBitAnd:
      case BinaryOp::kBitOr:
      case BinaryOp::kMin:
      case BinaryOp::kMax:
        return a;
      case BinaryOp::kSub:
      case BinaryOp::kBitXor:
        return MakeInt(0, a->dtype);
      case BinaryOp::kEq:
      case BinaryOp::kLe:
      case BinaryOp::kGe:
        return MakeInt(1, DataType::Bool(a->dtype.lanes));
      case BinaryOp::kNe:
      case BinaryOp::kLt:
      case BinaryOp::kGt:
        return MakeInt(0, DataType::Bool(a->dtype.lanes));
      default:
        break;
    }
  }
  return MakeBinary(node.op, std::move(a), std::move(b));
}

// ----------------------------------------------------------------- comparisons

Expr Simplifier::Comparison(const Expr& e, const Binary& node) {
  const Affine a = ToAffine(node.a);
  const Affine b = ToAffine(node.b);
  if (MayOverflow(a) || MayOverflow(b)) {
    return MakeBinary(node.op, a.ToExpr(), b.ToExpr());
  }
  switch (node.op) {
    case BinaryOp::kLt:
      return OrderedComparison(true, Difference(a, b));
    case BinaryOp::kLe:
      return OrderedComparison(false, Difference(a, b));
    case BinaryOp::kGt:
      return OrderedComparison(true, Difference(b, a));
    case BinaryOp::kGe:
      return OrderedComparison(false, Difference(b, a));
    case BinaryOp::kEq:
      return Equality(true, Difference(a, b));
    default:
      return Equality(false, Difference(a, b));
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

// ------------------------------------------------------------------ arithmetic

Affine Simplifier::ToAffine(const Expr& e) {
  if (++steps_ > kMaxSteps) return Affine::Atom(e);
  switch (e->kind) {
    case ExprKind::kIntImm:
      return Affine::Constant(static_cast<const IntImm&>(*e).value);
    case ExprKind::kVar:
      return Affine::Atom(e);
    case ExprKind::kUnary: {
      const auto& node = static_cast<const Unary&>(*e);
      if (node.op != UnaryOp::kNeg) break;
      Affine a = ToAffine(node.a);
      a.Scale(-1);
      return a;
    }
    case ExprKind::kBinary:
      return BinaryToAffine(e, static_cast<const Binary&>(*e));
    default:
      break;
  }
  Expr result = RunChildren(e);
  if (result == e || Equal(result, e)) return Affine::Atom(e);
  // What is left of a select or a cast may be anything.
  return result->kind == e->kind ? Affine::Atom(std::move(result))
                                 : ToAffine(result);
}

Affine Simplifier::Decompose(const Expr& e) {
  if (const auto* constant = As<IntImm>(e)) {
    return Affine::Constant(constant->value);
  }
  const auto* negation = As<Unary>(e);
  if (negation != nullptr && negation->op == UnaryOp::kNeg) {
    Affine a = Decompose(negation->a);
    a.Scale(-1);
    return a;
  }
  const auto* node = As<Binary>(e);
  if (node == nullptr) return Affine::Atom(e);
  switch (node->op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub: {
      Affine a = Decompose(node->a);
      a.Add(Decompose(node->b), node->op == BinaryOp::kAdd ? 1 : -1);
      return a;
    }
    case BinaryOp::kMul: {
      const Affine a = Decompose(node->a), b = Decompose(node->b);
      if (IsProductOfSums(a, b)) return Affine::Atom(e);
      return Multiply(a, b);
    }
    default:
      return Affine::Atom(e);
  }
}

Affine Simplifier::BinaryToAffine(const Expr& e, const Binary& node) {
  switch (node.op) {
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return MinMax(node);
    default:
      break;
  }
  Affine a = ToAffine(node.a);
  Affine b = ToAffine(node.b);
  switch (node.op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
      a.Add(b, node.op == BinaryOp::kAdd ? 1 : -1);
      JoinQuotients(&a);
      return a;
    case BinaryOp::kMul: {
      if (b.IsConstant()) {
        a.Scale(b.constant);
        return a;
      }
      if (a.IsConstant()) {
        b.Scale(a.constant);
        return b;
      }
      if (!IsProductOfSums(a, b)) return Multiply(a, b);
      return Affine::Atom(MakeBinary(BinaryOp::kMul, a.ToExpr(), b.ToExpr()));
    }
    case BinaryOp::kFloorDiv:
      return FloorDiv(a, b);
    case BinaryOp::kFloorMod:
      return FloorMod(a, b);
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
      // Of non-negative numbers the two roundings agree.
      if (!MayOverflow(a) && !MayOverflow(b) && Range(a).min >= 0 &&
          Range(b).min >= 0) {
        return node.op == BinaryOp::kDiv ? FloorDiv(a, b) : FloorMod(a, b);
      }
      break;
    default:
      break;
  }
  Expr result = MakeBinary(node.op, a.ToExpr(), b.ToExpr());
  // Folding may have returned an operand, which need not be an atom.
  const auto* binary = As<Binary>(result);
  if (binary == nullptr || binary->op != node.op) return ToAffine(result);
  return Affine::Atom(Equal(result, e) ? e : result);
}

Affine Simplifier::MinMax(const Binary& node) {
  const bool is_min = node.op == BinaryOp::kMin;
  Affine a = ToAffine(node.a);
  Affine b = ToAffine(node.b);
  const bool comparable = !MayOverflow(a) && !MayOverflow(b);
  const Affine a_minus_b = Difference(a, b);
  if (a_minus_b.IsConstant() && (comparable || a_minus_b.constant == 0)) {
    return (a_minus_b.constant < 0) == is_min ? a : b;
  }
  if (comparable) {
    if (ProveNonNegative(a_minus_b)) return is_min ? b : a;
    if (ProveNonNegative(Difference(b, a))) return is_min ? a : b;
  }
  Expr x = a.ToExpr();
  Expr y = b.ToExpr();
  // A constant comes last, otherwise the smaller operand first.
  const bool x_const = As<IntImm>(x) != nullptr;
  const bool y_const = As<IntImm>(y) != nullptr;
  if (x_const || (!y_const && CompareExpr(y, x) < 0)) std::swap(x, y);
  for (int turn = 0; turn < 2; ++turn) {
    const auto* inner = As<Binary>(turn == 0 ? x : y);
    const Expr& other = turn == 0 ? y : x;
    if (inner == nullptr || inner->op != node.op) continue;
    if (Equal(inner->a, other) || Equal(inner->b, other)) {
      return Affine::Atom(turn == 0 ? x : y);
    }
    if (As<IntImm>(inner->b) != nullptr && As<IntImm>(other) != nullptr) {
      return Affine::Atom(
          MakeBinary(node.op, inner->a, MakeBinary(node.op, inner->b, other)));
    }
  }
  return Affine::Atom(MakeBinary(node.op, std::move(x), std::move(y)));
}

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

Affine Simplifier::FloorDiv(const Affine& a, const Affine& b) {
  if (b.IsConstant() && b.constant > 0) return FloorDivConst(a, b.constant);
  auto atom = [&b](const Affine& x) {
    if (x.IsConstant() && x.constant == 0 && !b.IsConstant()) return Affine();
    return Affine::Atom(
        MakeBinary(BinaryOp::kFloorDiv, x.ToExpr(), b.ToExpr()));
  };
  if (b.IsConstant() || MayOverflow(a) || MayOverflow(b)) return atom(a);
  Affine quotient, rest;
  Divide(a, b, &quotient, &rest);
  Affine below = Difference(b, rest);
  below.AddConstant(-1);
  // Nothing is divided by 0, so what leaves no rest is exact.
  const bool exact = rest.IsConstant() && rest.constant == 0;
  if (exact || (ProveNonNegative(rest) && ProveNonNegative(below))) {
    return quotient;
  }
  if (rest.terms.size() > a.terms.size()) return atom(a);
  quotient.Add(atom(rest));
  return quotient;
}

Affine Simplifier::FloorMod(const Affine& a, const Affine& b) {
  if (b.IsConstant() && b.constant > 0) return FloorModConst(a, b.constant);
  auto atom = [&b](const Affine& x) {
    if (x.IsConstant() && x.constant == 0 && !b.IsConstant()) return Affine();
    return Affine::Atom(
        MakeBinary(BinaryOp::kFloorMod, x.ToExpr(), b.ToExpr()));
  };
  if (b.IsConstant() || MayOverflow(a) || MayOverflow(b)) return atom(a);
  Affine quotient, rest;
  Divide(a, b, &quotient, &rest);
  Affine below = Difference(b, rest);
  below.AddConstant(-1);
  const bool exact = rest.IsConstant() && rest.constant == 0;
  if (exact || (ProveNonNegative(rest) && ProveNonNegative(below))) return rest;
  return atom(rest.terms.size() > a.terms.size() ? a : rest);
}

Affine Simplifier::FloorDivConst(const Affine& a, int64_t c) {
  if (a.IsConstant()) return Affine::Constant(FloorDivInt(a.constant, c));
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

  const Interval range = Range(r);
  if (range.IsBounded() &&
      FloorDivInt(range.min, c) == FloorDivInt(range.max, c)) {
    q.constant += FloorDivInt(range.min, c);
    return q;
  }
  Affine below = Affine::Constant(c - 1);
  below.Add(r, -1);
  if (ProveNonNegative(r) && ProveNonNegative(below)) return q;

  // A common factor of the terms and c.
  const int64_t g = std::gcd(CoefficientGcd(r), c);
  if (g > 1) {
    Affine reduced = DivideTerms(r, g);
    reduced.constant = FloorDivInt(r.constant, g);
    q.Add(FloorDivConst(reduced, c / g));
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
  if (a.IsConstant()) return Affine::Constant(FloorModInt(a.constant, c));
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

  const Interval range = Range(r);
  if (range.IsBounded() &&
      FloorDivInt(range.min, c) == FloorDivInt(range.max, c)) {
    r.constant -= FloorDivInt(range.min, c) * c;
    return r;
  }
  Affine below = Affine::Constant(c - 1);
  below.Add(r, -1);
  if (ProveNonNegative(r) && ProveNonNegative(below)) return r;

  const int64_t g = std::gcd(CoefficientGcd(r), c);
  if (g > 1) {
    Affine x = DivideTerms(r, g);
    x.constant = FloorDivInt(r.constant, g);
    Affine result = FloorModConst(x, c / g);
    result.Scale(g);
    result.constant += FloorModInt(r.constant, g);
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
    // k * (x % c): take k * x - k * c * (x // c) for it, if that is shorter.
    const int64_t k = term.coefficient;
    const Affine x = Decompose(mod->a);
    const Affine c = Decompose(mod->b);
    if (MayOverflow(x) || MayOverflow(c)) continue;
    Affine joined = *a;
    joined.Add(Affine::Atom(term.factors[0]), -k);
    joined.Add(Multiply(FloorDiv(x, c), c), -k);
    joined.Add(x, k);
    if (joined.terms.size() >= a->terms.size()) continue;
    *a = std::move(joined);
    i = static_cast<size_t>(-1);  // from the start; each turn shortens a
  }
}

}  // namespace ingot::tir
