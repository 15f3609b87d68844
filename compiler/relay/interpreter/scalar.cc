#include "compiler/relay/interpreter/scalar.h"

#include <cmath>
#include <optional>

#include "compiler/relay/dim.h"
#include "compiler/relay/op.h"
#include "compiler/tir/numeric.h"

namespace ingot::relay {
namespace {

using tir::BinaryOp;
using tir::Expr;
using tir::Intrinsic;

// The element as an integer expression; null for what is no integer.
Expr Integer(DataType t, const Scalar& a) {
  if (a.kind == Scalar::kFormula) return a.formula;
  if (a.kind != Scalar::kConstant) return nullptr;
  if (!t.is_float()) return tir::MakeInt(a.integer);
  return KnownNumber::Of(a.number).integer;
}

Scalar Truth(std::optional<bool> value) {
  return value.has_value() ? Scalar::Int(*value) : Scalar();
}

bool IsComparison(BinaryOp op) {
  return op >= BinaryOp::kEq && op <= BinaryOp::kGe;
}

bool Holds(const Expr& condition) { return Decide(condition).value_or(false); }

bool IsNotNegative(const Expr& e) { return Holds(Ge(e, tir::MakeInt(0))); }

Scalar Compare(BinaryOp op, const Expr& a, const Expr& b) {
  return Truth(Decide(tir::MakeBinary(op, a, b)));
}

// Both are not negative or the divisor is positive as the operation needs it;
// otherwise the quotient is not known.
Scalar Divide(BinaryOp op, DataType t, const Expr& a, const Expr& b) {
  if (!Holds(Gt(b, tir::MakeInt(0)))) return Scalar();
  if (t.is_float()) {
    const bool is_whole = tir::IsConstInt(SimplifyDim(a % b), 0);
    return is_whole ? Scalar::Formula(t, a / b) : Scalar();
  }
  const bool floors = op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod;
  if (floors || IsNotNegative(a)) {
    const bool quotient = op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv;
    return Scalar::Formula(t, quotient ? a / b : a % b);
  }
  return Scalar::Formula(t, tir::MakeBinary(op, a, b));
}

// Whether `a` is what a minimum or maximum starts from: no element of the type
// lies beyond it.
bool IsNeutral(BinaryOp op, DataType t, const Scalar& a) {
  if (a.kind != Scalar::kConstant) return false;
  if (t.is_float()) {
    return std::isinf(a.number) && (a.number > 0) == (op == BinaryOp::kMin);
  }
  const double far = op == BinaryOp::kMin ? INFINITY : -INFINITY;
  return a.integer == tir::CastFloatToInt(t, far);
}

Scalar BinaryOnFormulas(BinaryOp op, DataType t, const Scalar& a,
                        const Scalar& b) {
  if (op == BinaryOp::kMin || op == BinaryOp::kMax) {
    if (IsNeutral(op, t, a)) return b;
    if (IsNeutral(op, t, b)) return a;
  }
  const Expr p = Integer(t, a), q = Integer(t, b);
  if (p == nullptr || q == nullptr) return Scalar();
  if (IsComparison(op)) return Compare(op, p, q);
  switch (op) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
    case BinaryOp::kMul:
    case BinaryOp::kMin:
    case BinaryOp::kMax:
      return Scalar::Formula(t, tir::MakeBinary(op, p, q));
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      return Divide(op, t, p, q);
    default:
      return Scalar();
  }
}

// One operand alone may decide on "and" and "or".
Scalar Logic(BinaryOp op, const Scalar& a, const Scalar& b) {
  const int64_t deciding = op == BinaryOp::kOr;
  for (const Scalar* x : {&a, &b}) {
    if (x->kind == Scalar::kConstant && x->integer == deciding) return *x;
  }
  const bool both = a.kind == Scalar::kConstant && b.kind == Scalar::kConstant;
  return both ? Scalar::Int(1 - deciding) : Scalar();
}

}  // namespace

Scalar Scalar::Int(int64_t value) {
  Scalar scalar;
  scalar.kind = kConstant;
  scalar.integer = value;
  return scalar;
}

Scalar Scalar::Float(double value) {
  Scalar scalar;
  scalar.kind = kConstant;
  scalar.number = value;
  return scalar;
}

Scalar Scalar::Formula(DataType dtype, const Expr& e) {
  // A formula that is too long for a dimension is left to a run.
  if (!CheckDimSize(e).ok()) return Scalar();
  const Expr simple = SimplifyDim(e);
  int64_t value;
  if (tir::AsConstInt(simple, &value)) {
    return dtype.is_float() ? Float(static_cast<double>(value)) : Int(value);
  }
  Scalar scalar;
  scalar.kind = kFormula;
  scalar.formula = simple;
  return scalar;
}

Scalar Scalar::Of(DataType dtype, const KnownNumber& number) {
  if (number.integer == nullptr) return Float(number.fraction);
  int64_t value;
  if (tir::AsConstInt(number.integer, &value)) {
    return dtype.is_float() ? Float(static_cast<double>(value)) : Int(value);
  }
  Scalar scalar;
  scalar.kind = kFormula;
  scalar.formula = number.integer;
  return scalar;
}

KnownNumber Scalar::ToKnown(DataType dtype) const {
  if (kind == kFormula) return {formula, 0};
  return dtype.is_float() ? KnownNumber::Of(number) : KnownNumber::Of(integer);
}

Scalar EvalUnary(tir::UnaryOp op, DataType t, const Scalar& a) {
  if (!a.known()) return Scalar();
  if (a.kind == Scalar::kFormula) {
    return op == tir::UnaryOp::kNeg ? Scalar::Formula(t, -a.formula) : Scalar();
  }
  switch (op) {
    case tir::UnaryOp::kNeg:
      if (t.is_float()) return Scalar::Float(-a.number);
      return EvalBinary(BinaryOp::kSub, t, Scalar::Int(0), a);
    case tir::UnaryOp::kNot:
      return Scalar::Int(a.integer == 0);
    case tir::UnaryOp::kBitNot:
      return Scalar::Int(tir::WrapInt(t, ~a.integer));
  }
  return Scalar();
}

Scalar EvalBinary(BinaryOp op, DataType t, const Scalar& a, const Scalar& b) {
  if (op == BinaryOp::kAnd || op == BinaryOp::kOr) return Logic(op, a, b);
  if (!a.known() || !b.known()) return Scalar();
  if (a.kind == Scalar::kFormula || b.kind == Scalar::kFormula) {
    return BinaryOnFormulas(op, t, a, b);
  }
  if (t.is_float()) {
    if (IsComparison(op)) {
      return Scalar::Int(tir::EvalFloatCompare(op, a.number, b.number));
    }
    return Scalar::Float(tir::EvalFloatBinary(op, t, a.number, b.number));
  }
  int64_t result;
  if (!tir::EvalIntBinary(op, t, a.integer, b.integer, &result)) {
    return Scalar();
  }
  return Scalar::Int(result);
}

Scalar EvalCast(DataType to, DataType from, const Scalar& a) {
  if (a.kind == Scalar::kFormula) {
    if (to.is_bool()) {
      return Compare(BinaryOp::kNe, a.formula, tir::MakeInt(0));
    }
    // A narrow type may change the value.
    return to.bits >= 32 ? a : Scalar();
  }
  if (!a.known()) return Scalar();
  if (from.is_float()) {
    if (to.is_float()) return Scalar::Float(tir::RoundFloat(to, a.number));
    return Scalar::Int(tir::CastFloatToInt(to, a.number));
  }
  if (to.is_float()) {
    return Scalar::Float(tir::CastIntToFloat(to, from, a.integer));
  }
  return Scalar::Int(tir::WrapInt(to, a.integer));
}

Scalar EvalCall(Intrinsic intrinsic, DataType t,
                absl::Span<const Scalar> args) {
  double values[3] = {0, 0, 0};
  bool constant = args.size() <= 3;
  for (size_t i = 0; constant && i < args.size(); ++i) {
    constant = args[i].kind == Scalar::kConstant;
    values[i] = args[i].number;
  }
  if (constant) {
    const double result =
        tir::EvalIntrinsic(intrinsic, t, values[0], values[1], values[2]);
    const bool to_bool =
        intrinsic == Intrinsic::kIsNan || intrinsic == Intrinsic::kIsInf;
    return to_bool ? Scalar::Int(result != 0) : Scalar::Float(result);
  }
  for (const Scalar& arg : args) {
    if (!arg.known()) return Scalar();
  }
  switch (intrinsic) {
    case Intrinsic::kFloor:
    case Intrinsic::kCeil:
    case Intrinsic::kRound:
    case Intrinsic::kTrunc:
      return args[0];  // an integer already
    case Intrinsic::kAbs:
      return IsNotNegative(args[0].formula) ? args[0] : Scalar();
    case Intrinsic::kIsNan:
    case Intrinsic::kIsInf:
      return Scalar::Int(0);
    case Intrinsic::kFmod: {
      const Expr a = Integer(t, args[0]), b = Integer(t, args[1]);
      if (a == nullptr || b == nullptr || !IsNotNegative(a) ||
          !Holds(Gt(b, tir::MakeInt(0)))) {
        return Scalar();
      }
      return Scalar::Formula(t, a % b);
    }
    case Intrinsic::kMulAdd:
      return EvalBinary(BinaryOp::kAdd, t,
                        EvalBinary(BinaryOp::kMul, t, args[0], args[1]),
                        args[2]);
    default:
      return Scalar();
  }
}

}  // namespace ingot::relay
