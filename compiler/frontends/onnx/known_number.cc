#include "compiler/frontends/onnx/known_number.h"

#include <algorithm>
#include <cmath>

#include "compiler/relay/op.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

// Not known when it is longer than a dimension may be: a run computes it.
MaybeNumber FromExpr(const Expr& e) {
  if (!relay::CheckDimSize(e).ok()) return std::nullopt;
  return KnownNumber{SimplifyDim(e), 0};
}

bool NotNegative(const Expr& e) {
  return Decide(Ge(e, tir::MakeInt(0))).value_or(false);
}

}  // namespace

std::optional<bool> Decide(const Expr& condition) {
  const tir::Bounds bounds = tir::Bounds::Dimensions();
  const Expr simple = tir::Simplify(condition, &bounds);
  int64_t v;
  if (tir::AsConstInt(simple, &v)) return v != 0;
  return std::nullopt;
}

// In doubles when both are constant and the tensor is of floats.
MaybeNumber Arithmetic(const std::string& op, DataType dtype,
                       const KnownNumber& a, const KnownNumber& b) {
  double x, y;
  if (dtype.is_float() && a.AsDouble(&x) && b.AsDouble(&y)) {
    double r;
    if (op == "Add") {
      r = x + y;
    } else if (op == "Sub") {
      r = x - y;
    } else if (op == "Mul") {
      r = x * y;
    } else if (op == "Div") {
      if (y == 0) return std::nullopt;
      r = x / y;
    } else if (op == "Min") {
      r = std::min(x, y);
    } else if (op == "Max") {
      r = std::max(x, y);
    } else if (op == "Pow") {
      r = std::pow(x, y);
    } else {
      return std::nullopt;
    }
    if (dtype.bits == 32) r = static_cast<float>(r);
    return std::isfinite(r) ? MaybeNumber(KnownNumber::Of(r)) : std::nullopt;
  }
  if (a.integer == nullptr || b.integer == nullptr) return std::nullopt;
  const Expr &p = a.integer, &q = b.integer;
  if (op == "Add") return FromExpr(p + q);
  if (op == "Sub") return FromExpr(p - q);
  if (op == "Mul") return FromExpr(p * q);
  if (op == "Min") return FromExpr(Min(p, q));
  if (op == "Max") return FromExpr(Max(p, q));
  if (op == "Div" || op == "Mod") {
    const std::optional<bool> positive = Decide(Gt(q, tir::MakeInt(0)));
    if (!positive.value_or(false)) return std::nullopt;
    if (op == "Mod") return FromExpr(p % q);
    if (dtype.is_float()) {
      // Exact, or unknown.
      if (!tir::IsConstInt(SimplifyDim(p % q), 0)) return std::nullopt;
      return FromExpr(p / q);
    }
    if (NotNegative(p)) return FromExpr(p / q);
    return FromExpr(tir::MakeBinary(tir::BinaryOp::kDiv, p, q));
  }
  return std::nullopt;
}

MaybeNumber Compare(const std::string& op, const KnownNumber& a,
                    const KnownNumber& b) {
  std::optional<bool> r;
  double x, y;
  if (a.AsDouble(&x) && b.AsDouble(&y)) {
    r = op == "Equal"         ? x == y
        : op == "Less"        ? x < y
        : op == "Greater"     ? x > y
        : op == "LessOrEqual" ? x <= y
                              : x >= y;
  } else if (a.integer != nullptr && b.integer != nullptr) {
    const Expr &p = a.integer, &q = b.integer;
    r = Decide(op == "Equal"         ? Eq(p, q)
               : op == "Less"        ? Lt(p, q)
               : op == "Greater"     ? Gt(p, q)
               : op == "LessOrEqual" ? Le(p, q)
                                     : Ge(p, q));
  }
  if (!r) return std::nullopt;
  return KnownNumber::Of(int64_t{*r});
}

// Logic on decided values.
MaybeNumber Logic(const std::string& op, const KnownNumber& a,
                  const KnownNumber& b) {
  int64_t x, y;
  if (!a.AsInt(&x) || !b.AsInt(&y)) return std::nullopt;
  const bool p = x != 0, q = y != 0;
  return KnownNumber::Of(int64_t{op == "And"  ? p && q
                                 : op == "Or" ? p || q
                                              : p != q});
}

MaybeNumber Unary(const std::string& op, DataType dtype, const KnownNumber& a) {
  // Doubles keep their precision; narrower floats are computed as f32.
  const auto rounded = [dtype](double value) {
    return KnownNumber::Of(dtype == DataType::Float(64)
                               ? value
                               : double{static_cast<float>(value)});
  };
  double x;
  if (op == "Neg" && a.integer != nullptr) return FromExpr(-a.integer);
  if ((op == "Floor" || op == "Ceil" || op == "Round") &&
      a.integer != nullptr) {
    return a;
  }
  if (op == "Abs" && a.integer != nullptr && NotNegative(a.integer)) return a;
  if (!a.AsDouble(&x)) return std::nullopt;
  if (op == "Neg") return KnownNumber::Of(-x);
  if (op == "Abs") return KnownNumber::Of(std::fabs(x));
  if (op == "Floor") return KnownNumber::Of(std::floor(x));
  if (op == "Ceil") return KnownNumber::Of(std::ceil(x));
  if (op == "Round") return KnownNumber::Of(std::nearbyint(x));
  if (op == "Not") return KnownNumber::Of(int64_t{x == 0});
  if (op == "Sqrt" && x >= 0) {
    return rounded(std::sqrt(x));
  }
  if (op == "Reciprocal" && x != 0) {
    return rounded(1 / x);
  }
  return std::nullopt;
}

}  // namespace ingot::onnx_frontend
