#include "runtime/plan/dim_expr.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

absl::Status Check(const DimExpr& expr, int num_symbols, int depth) {
  if (depth > kMaxDimExprDepth) {
    return absl::InvalidArgumentError("a dimension's expression is too deep");
  }
  int operands = 2;
  switch (expr.op()) {
    case DimExpr::CONST:
      operands = 0;
      break;
    case DimExpr::SYMBOL:
      operands = 0;
      if (expr.value() < 0 || expr.value() >= num_symbols) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a dimension names symbol ", expr.value(), " of ", num_symbols));
      }
      break;
    case DimExpr::ADD:
    case DimExpr::SUB:
    case DimExpr::MUL:
    case DimExpr::FLOOR_DIV:
    case DimExpr::FLOOR_MOD:
    case DimExpr::MIN:
    case DimExpr::MAX:
      break;
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("a dimension has the unknown operation ", expr.op()));
  }
  if (expr.operands_size() != operands) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a dimension's operation ", DimExpr::Op_Name(expr.op()), " has ",
        expr.operands_size(), " operands instead of ", operands));
  }
  for (const DimExpr& operand : expr.operands()) {
    INGOT_RETURN_IF_ERROR(Check(operand, num_symbols, depth + 1));
  }
  return absl::OkStatus();
}

// The reason why an expression has no value; kNone if it has one.
enum class Fault { kNone, kMalformed, kOverflow, kDivision };

Fault Evaluate(const DimExpr& expr, absl::Span<const int64_t> symbols,
               int depth, int64_t* value) {
  if (depth > kMaxDimExprDepth) return Fault::kMalformed;
  if (expr.op() == DimExpr::CONST) {
    *value = expr.value();
    return Fault::kNone;
  }
  if (expr.op() == DimExpr::SYMBOL) {
    if (expr.value() < 0 ||
        static_cast<uint64_t>(expr.value()) >= symbols.size()) {
      return Fault::kMalformed;
    }
    *value = symbols[expr.value()];
    return Fault::kNone;
  }
  if (expr.operands_size() != 2) return Fault::kMalformed;
  int64_t a;
  int64_t b;
  Fault fault = Evaluate(expr.operands(0), symbols, depth + 1, &a);
  if (fault != Fault::kNone) return fault;
  fault = Evaluate(expr.operands(1), symbols, depth + 1, &b);
  if (fault != Fault::kNone) return fault;
  bool overflow = false;
  switch (expr.op()) {
    case DimExpr::ADD:
      overflow = __builtin_add_overflow(a, b, value);
      break;
    case DimExpr::SUB:
      overflow = __builtin_sub_overflow(a, b, value);
      break;
    case DimExpr::MUL:
      overflow = __builtin_mul_overflow(a, b, value);
      break;
    case DimExpr::FLOOR_DIV:
      if (b == 0) return Fault::kDivision;
      if (b == -1) {
        overflow = __builtin_sub_overflow(int64_t{0}, a, value);
      } else {
        *value = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
      }
      break;
    case DimExpr::FLOOR_MOD:
      if (b == 0) return Fault::kDivision;
      if (b == -1) {
        *value = 0;
      } else {
        const int64_t rest = a % b;
        *value = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
      }
      break;
    case DimExpr::MIN:
      *value = std::min(a, b);
      break;
    case DimExpr::MAX:
      *value = std::max(a, b);
      break;
    default:
      return Fault::kMalformed;
  }
  return overflow ? Fault::kOverflow : Fault::kNone;
}

// The precedence of an operation, for parentheses.
int Precedence(DimExpr::Op op) {
  switch (op) {
    case DimExpr::ADD:
    case DimExpr::SUB:
      return 1;
    case DimExpr::MUL:
    case DimExpr::FLOOR_DIV:
    case DimExpr::FLOOR_MOD:
      return 2;
    default:
      return 3;
  }
}

std::string Print(const DimExpr& expr, absl::Span<const std::string> symbols,
                  int least, int depth) {
  if (expr.op() == DimExpr::CONST) return absl::StrCat(expr.value());
  if (expr.op() == DimExpr::SYMBOL) {
    const bool known = expr.value() >= 0 &&
                       static_cast<uint64_t>(expr.value()) < symbols.size();
    return known ? symbols[expr.value()] : absl::StrCat("?", expr.value());
  }
  if (expr.operands_size() != 2 || depth > kMaxDimExprDepth) return "?";
  const int own = Precedence(expr.op());
  const int below = own == 3 ? 0 : own;
  const std::string a = Print(expr.operands(0), symbols, below, depth + 1);
  // All of them group to the left.
  const std::string b =
      Print(expr.operands(1), symbols, own == 3 ? 0 : own + 1, depth + 1);
  std::string text;
  switch (expr.op()) {
    case DimExpr::ADD:
      text = absl::StrCat(a, " + ", b);
      break;
    case DimExpr::SUB:
      text = absl::StrCat(a, " - ", b);
      break;
    case DimExpr::MUL:
      text = absl::StrCat(a, "*", b);
      break;
    case DimExpr::FLOOR_DIV:
      text = absl::StrCat(a, "/", b);
      break;
    case DimExpr::FLOOR_MOD:
      text = absl::StrCat(a, " % ", b);
      break;
    case DimExpr::MIN:
      return absl::StrCat("min(", a, ", ", b, ")");
    case DimExpr::MAX:
      return absl::StrCat("max(", a, ", ", b, ")");
    default:
      return "?";
  }
  return own < least ? absl::StrCat("(", text, ")") : text;
}

}  // namespace

absl::Status CheckDimExpr(const DimExpr& expr, int num_symbols) {
  return Check(expr, num_symbols, 0);
}

absl::StatusOr<int64_t> EvaluateDimExpr(const DimExpr& expr,
                                        absl::Span<const int64_t> symbols) {
  int64_t value = 0;
  switch (Evaluate(expr, symbols, 0, &value)) {
    case Fault::kNone:
      return value;
    case Fault::kMalformed:
      return absl::InvalidArgumentError(
          "a dimension's expression is not well formed");
    case Fault::kOverflow:
      return absl::InvalidArgumentError("a dimension's expression overflows");
    case Fault::kDivision:
      return absl::InvalidArgumentError(
          "a dimension's expression divides by zero");
  }
  return absl::InternalError("unknown fault");
}

bool HasSymbols(const DimExpr& expr) {
  if (expr.op() == DimExpr::SYMBOL) return true;
  for (const DimExpr& operand : expr.operands()) {
    if (HasSymbols(operand)) return true;
  }
  return false;
}

uint32_t PhaseOf(const DimExpr& expr, absl::Span<const uint32_t> phases) {
  if (expr.op() == DimExpr::SYMBOL) return phases[expr.value()];
  uint32_t phase = 0;
  for (const DimExpr& operand : expr.operands()) {
    phase = std::max(phase, PhaseOf(operand, phases));
  }
  return phase;
}

std::vector<std::string> SymbolNames(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanSymbol& symbol : plan.symbols())
    names.push_back(symbol.name());
  return names;
}

std::string DimExprToString(const DimExpr& expr,
                            absl::Span<const std::string> symbols) {
  return Print(expr, symbols, 0, 0);
}

}  // namespace ingot
