// What the simplifier knows of sizes: ranges, proofs, and the Bounds they rest
// on.
#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/tir/simplifier.h"
#include "compiler/tir/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

// Proofs look at no more facts than this, the newest ones.
constexpr size_t kMaxFacts = 16;
constexpr int kMaxSymbolicSteps = 8;

Interval TypeRange(DataType t) {
  if (t.is_bool()) return {0, 1};
  if (t.is_integer() && t.bits < 64) {
    const int64_t limit = int64_t{1} << (t.is_int() ? t.bits - 1 : t.bits);
    return {t.is_int() ? -limit : 0, limit - 1};
  }
  return {};
}

Interval Negate(Interval a) { return a * Interval::Point(-1); }

Interval FloorDivRange(Interval a, Interval b) {
  // An empty range comes of facts that contradict each other.
  if (b.min < 1 || b.max < b.min) return {};
  auto divide = [](int64_t x, int64_t y) {
    if (x == Interval::kNone || x == Interval::kNoneMax) return x;
    return FloorDivInt(x, y);
  };
  // Towards 0 for the large divisor, away from it for the small one.
  const int64_t large = b.max;
  return {divide(a.min, a.min < 0 ? b.min : large),
          divide(a.max, a.max < 0 ? large : b.min)};
}

class DataFinder final : public ExprVisitor {
 public:
  explicit DataFinder(const std::function<bool(const Var*)>& is_data)
      : is_data_(is_data) {}
  bool found = false;

 private:
  void VisitVar(const Var& node) override { found |= is_data_(&node); }
  void VisitLoad(const Load& node) override { found = true; }

  const std::function<bool(const Var*)>& is_data_;
};

}  // namespace

// -------------------------------------------------------------------- Bounds

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

void Bounds::SetLoop(const Var* var, const Expr& min, const Expr& extent) {
  Known known;
  {
    Simplifier simplifier(this);
    Affine lower = simplifier.ToAffine(min);
    Affine upper = simplifier.ToAffine(extent);
    upper.AddConstant(-1);
    upper.Add(lower);
    // Loops over loaded ranges have only the bounds that cannot wrap.
    if (!simplifier.MayOverflow(lower) && !simplifier.MayOverflow(upper)) {
      known.interval = {simplifier.Range(lower).min,
                        simplifier.Range(upper).max};
      if (!lower.IsConstant()) known.lower = std::move(lower);
      if (!upper.IsConstant()) known.upper = std::move(upper);
    }
  }
  known_[var] = std::move(known);
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

// -------------------------------------------------------------------- ranges

Interval Simplifier::VarRange(const Var* var) {
  if (bounds_ == nullptr || var->dtype != DataType::Int(64)) return {};
  const Bounds::Known* known = bounds_->Find(var);
  Interval range = known != nullptr ? known->interval : bounds_->unknown_;
  for (const Affine& fact : bounds_->facts_) {  // var + c >= 0, c - var >= 0
    if (fact.terms.size() != 1 || fact.terms[0].factors.size() != 1 ||
        fact.terms[0].factors[0].get() != var) {
      continue;
    }
    if (fact.terms[0].coefficient == 1) {
      range.min = std::max(range.min, -fact.constant);
    } else if (fact.terms[0].coefficient == -1) {
      range.max = std::min(range.max, fact.constant);
    }
  }
  return range;
}

Interval Simplifier::TermRange(const Term& term) {
  Interval range = Interval::Point(term.coefficient);
  for (const Expr& factor : term.factors) range = range * Range(factor);
  return range;
}

Interval Simplifier::Range(const Affine& a) {
  Interval range = Interval::Point(a.constant);
  for (const Term& term : a.terms) range = range + TermRange(term);
  return range;
}

Interval Simplifier::Range(const Expr& e) {
  const Interval type_range = TypeRange(e->dtype);
  if (e->dtype != DataType::Int(64)) return type_range;
  switch (e->kind) {
    case ExprKind::kIntImm:
      return Interval::Point(static_cast<const IntImm&>(*e).value);
    case ExprKind::kVar:
      return VarRange(static_cast<const Var*>(e.get()));
    case ExprKind::kUnary: {
      const auto& node = static_cast<const Unary&>(*e);
      return node.op == UnaryOp::kNeg ? Negate(Range(node.a)) : Interval();
    }
    case ExprKind::kSelect: {
      const auto& node = static_cast<const Select&>(*e);
      return Union(Range(node.on_true), Range(node.on_false));
    }
    case ExprKind::kCast: {
      const auto& node = static_cast<const Cast&>(*e);
      return node.value->dtype.is_float() ? Interval()
                                          : TypeRange(node.value->dtype);
    }
    case ExprKind::kBinary:
      break;
    default:
      return {};
  }
  const auto& node = static_cast<const Binary&>(*e);
  const Interval a = Range(node.a);
  const Interval b = Range(node.b);
  switch (node.op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a + Negate(b);
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kMin:
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case BinaryOp::kMax:
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case BinaryOp::kFloorDiv:
      return FloorDivRange(a, b);
    case BinaryOp::kDiv:
      return a.min >= 0 ? FloorDivRange(a, b) : Interval();
    case BinaryOp::kFloorMod:
    case BinaryOp::kMod: {
      if (b.min < 1) return {};
      if (a.min >= 0 && a.max < b.min) return a;
      const int64_t max = b.max == Interval::kNoneMax ? b.max : b.max - 1;
      if (node.op == BinaryOp::kFloorMod || a.min >= 0) {
        return {0, a.min >= 0 ? std::min(a.max, max) : max};
      }
      return {-max, max};
    }
    case BinaryOp::kBitAnd:
      if (b.min >= 0) return {0, b.max};
      if (a.min >= 0) return {0, a.max};
      return {};
    default:
      return {};
  }
}

bool Simplifier::IsData(const Expr& e) {
  const std::function<bool(const Var*)> is_data = [this](const Var* var) {
    if (bounds_ == nullptr) return false;
    const Bounds::Known* known = bounds_->Find(var);
    return known != nullptr && known->is_data;
  };
  DataFinder finder(is_data);
  finder.Visit(e);
  return finder.found;
}

bool Simplifier::MayOverflow(const Affine& a) {
  auto huge = [](int64_t v) { return v < -kHuge || v > kHuge; };
  if (huge(a.constant)) return true;
  bool data = false;
  for (const Term& term : a.terms) {
    if (huge(term.coefficient)) return true;
    for (const Expr& factor : term.factors) {
      if (data) break;
      data = IsData(factor);
    }
  }
  return data && !Range(a).IsBounded();
}

// -------------------------------------------------------------------- proofs

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
  Affine rest = Affine::Constant(1);
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

bool Simplifier::ProveNonNegativeBySymbols(Affine a) {
  for (int step = 0; step < kMaxSymbolicSteps; ++step) {
    if (Range(a).min >= 0) return true;
    Affine lower;
    if (!LowerOnce(a, &lower)) return false;
    a = std::move(lower);
  }
  return Range(a).min >= 0;
}

bool Simplifier::ProveNonNegative(const Affine& a) {
  if (a.IsConstant()) return a.constant >= 0;
  if (bounds_ == nullptr) return Range(a).min >= 0;
  if (ProveNonNegativeBySymbols(a)) return true;
  const auto& facts = bounds_->facts_;
  const size_t first = facts.size() > kMaxFacts ? facts.size() - kMaxFacts : 0;
  for (size_t i = facts.size(); i > first; --i) {
    Affine difference = a;
    difference.Add(facts[i - 1], -1);
    if (ProveNonNegativeBySymbols(std::move(difference))) return true;
  }
  return false;
}

// ----------------------------------------------------------------- interface

Expr Simplify(const Expr& e, const Bounds* bounds) {
  return Simplifier(bounds).Run(e);
}

bool Equal(const Expr& a, const Expr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return CompareExpr(a, b) == 0;
}

bool ProveEqual(const Expr& a, const Expr& b, const Bounds* bounds) {
  if (a->dtype != b->dtype) return false;
  if (Equal(a, b)) return true;
  Simplifier simplifier(bounds);
  if (a->dtype != DataType::Int(64)) {
    return Equal(simplifier.Run(a), simplifier.Run(b));
  }
  Affine difference = simplifier.ToAffine(a);
  difference.Add(simplifier.ToAffine(b), -1);
  return difference.IsConstant() && difference.constant == 0;
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

std::vector<const Var*> SymbolicDims(const PrimFunc& func) {
  class Collector final : public ExprVisitor {
   public:
    std::vector<const Var*> vars;

   private:
    void VisitVar(const Var& node) override {
      if (std::find(vars.begin(), vars.end(), &node) == vars.end()) {
        vars.push_back(&node);
      }
    }
  };
  Collector collector;
  for (const Buffer& param : func.params) {
    for (const Expr& dim : param->shape) collector.Visit(dim);
  }
  return collector.vars;
}

}  // namespace ingot::tir
