// The ranges of values.
#include <algorithm>
#include <functional>

#include "compiler/tir/arith/simplifier.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

Interval TypeRange(DataType t) {
  if (t.is_bool()) return {0, 1};
  if (t.is_integer() && t.bits < 64) {
    const int64_t limit = int64_t{1} << (t.is_int() ? t.bits - 1 : t.bits);
    return {t.is_int() ? -limit : 0, limit - 1};
  }
  return {};
}

Interval Negate(Interval a) { return a * Interval::Point(-1); }

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
      return tir::FloorDiv(a, b);
    case BinaryOp::kDiv:
      return a.min >= 0 ? tir::FloorDiv(a, b) : Interval();
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

}  // namespace ingot::tir
