#include "compiler/tir/arith/simplifier.h"

#include <utility>

#include "compiler/tir/arith/compare.h"
#include "compiler/tir/typing.h"

namespace ingot::tir {
namespace {

// Products of sums are multiplied out up to this many terms.
constexpr size_t kMaxProductTerms = 32;

bool IsIndex(const Expr& e) { return e->dtype == DataType::Int(64); }

// Whether the product has more terms than it is multiplied out to.
bool IsProductOfSums(const Affine& a, const Affine& b) {
  return !a.IsConstant() && !b.IsConstant() &&
         (a.terms.size() + 1) * (b.terms.size() + 1) > kMaxProductTerms;
}

}  // namespace

bool IsSmall(const Affine& a) {
  auto small = [](int64_t v) { return v > -kSmall && v < kSmall; };
  for (const Term& term : a.terms) {
    if (!small(term.coefficient)) return false;
  }
  return small(a.constant);
}

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

Affine Simplifier::ToAffine(const Expr& e) {
  if (++steps_ > kMaxSteps) return Affine::Atom(e);
  switch (e->kind) {
    case ExprKind::kIntImm:
      return Affine(static_cast<const IntImm&>(*e).value);
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
  // The result of simplifying a select or a cast may be of any kind.
  return result->kind == e->kind ? Affine::Atom(std::move(result))
                                 : ToAffine(result);
}

Affine Simplifier::Decompose(const Expr& e) {
  if (const auto* constant = As<IntImm>(e)) {
    return Affine(constant->value);
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
      // For non-negative numbers the two roundings agree.
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
  const int64_t neutral = is_min ? INT64_MAX : INT64_MIN;
  if (b.IsConstant() && b.constant == neutral) return a;
  if (a.IsConstant() && a.constant == neutral) return b;
  const Affine a_minus_b = a - b;
  if (a_minus_b.IsConstant() && (comparable || a_minus_b.constant == 0)) {
    return (a_minus_b.constant < 0) == is_min ? a : b;
  }
  if (comparable) {
    if (ProveNonNegative(a_minus_b)) return is_min ? b : a;
    if (ProveNonNegative(b - a)) return is_min ? a : b;
  }
  Expr x = a.ToExpr();
  Expr y = b.ToExpr();
  // A constant comes last, otherwise the smaller operand first.
  const bool x_const = As<IntImm>(x) != nullptr;
  const bool y_const = As<IntImm>(y) != nullptr;
  if (x_const || (!y_const && CompareExpr(y, x) < 0)) std::swap(x, y);
  const BinaryOp opposite = is_min ? BinaryOp::kMax : BinaryOp::kMin;
  const auto* of_x = As<Binary>(x);
  const auto* of_y = As<Binary>(y);
  if (of_x != nullptr && of_y != nullptr && of_x->op == opposite &&
      of_y->op == opposite && Equal(of_x->b, of_y->b)) {
    // max(min(x, c), min(y, c)) is min(max(x, y), c).
    return ToAffine(
        MakeBinary(opposite, MakeBinary(node.op, of_x->a, of_y->a), of_x->b));
  }
  for (int turn = 0; turn < 2; ++turn) {
    const auto* inner = As<Binary>(turn == 0 ? x : y);
    const Expr& other = turn == 0 ? y : x;
    if (inner == nullptr) continue;
    int64_t limit, constant;
    if (inner->op == opposite && AsConstInt(inner->b, &limit) &&
        AsConstInt(other, &constant) &&
        (is_min ? limit >= constant : limit <= constant)) {
      // max(min(x, 0), 0) is 0, also where x is data.
      return Affine(constant);
    }
    if (inner->op != node.op) continue;
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

}  // namespace ingot::tir
