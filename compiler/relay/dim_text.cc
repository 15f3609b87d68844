#include "compiler/relay/dim_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ingot::relay {
namespace {

// The precedence of an operator; operands of a lower level need parentheses.
constexpr int kAny = 0, kSum = 1, kProduct = 2;

std::string Print(const Dim& dim, int level);

std::string Infix(const tir::Binary& b, absl::string_view op, int own,
                  int level) {
  // All operators group to the left, so the right operand needs one level more.
  std::string text =
      absl::StrCat(Print(b.a, own), " ", op, " ", Print(b.b, own + 1));
  return own < level ? absl::StrCat("(", text, ")") : text;
}

std::string Prefix(const tir::Binary& b, absl::string_view name) {
  return absl::StrCat(name, "(", Print(b.a, kAny), ", ", Print(b.b, kAny), ")");
}

std::string Compare(const tir::Binary& b, absl::string_view op) {
  return absl::StrCat("(", Print(b.a, kSum), " ", op, " ", Print(b.b, kSum),
                      ")");
}

std::string PrintBinary(const tir::Binary& b, int level) {
  switch (b.op) {
    case tir::BinaryOp::kAdd: {
      int64_t c;
      // n + -1 reads better as n - 1.
      if (tir::AsConstInt(b.b, &c) && c < 0 && c != INT64_MIN) {
        std::string text = absl::StrCat(Print(b.a, kSum), " - ", -c);
        return kSum < level ? absl::StrCat("(", text, ")") : text;
      }
      return Infix(b, "+", kSum, level);
    }
    case tir::BinaryOp::kSub:
      return Infix(b, "-", kSum, level);
    case tir::BinaryOp::kMul:
      return Infix(b, "*", kProduct, level);
    case tir::BinaryOp::kFloorDiv:
      return Infix(b, "/", kProduct, level);
    case tir::BinaryOp::kFloorMod:
      return Infix(b, "%", kProduct, level);
    case tir::BinaryOp::kDiv:
      return Prefix(b, "div");
    case tir::BinaryOp::kMod:
      return Prefix(b, "mod");
    case tir::BinaryOp::kMin:
      return Prefix(b, "min");
    case tir::BinaryOp::kMax:
      return Prefix(b, "max");
    case tir::BinaryOp::kAnd:
      return Prefix(b, "and");
    case tir::BinaryOp::kOr:
      return Prefix(b, "or");
    case tir::BinaryOp::kEq:
      return Compare(b, "==");
    case tir::BinaryOp::kNe:
      return Compare(b, "!=");
    case tir::BinaryOp::kLt:
      return Compare(b, "<");
    case tir::BinaryOp::kLe:
      return Compare(b, "<=");
    case tir::BinaryOp::kGt:
      return Compare(b, ">");
    case tir::BinaryOp::kGe:
      return Compare(b, ">=");
    default:
      return "?";
  }
}

std::string Print(const Dim& dim, int level) {
  if (dim == nullptr) return "?";
  int64_t value;
  if (tir::AsConstInt(dim, &value)) return absl::StrCat(value);
  if (const auto* var = tir::As<tir::Var>(dim)) return QuoteSymbol(var->name);
  if (const auto* b = tir::As<tir::Binary>(dim)) return PrintBinary(*b, level);
  if (const auto* s = tir::As<tir::Select>(dim)) {
    return absl::StrCat("select(", Print(s->condition, kAny), ", ",
                        Print(s->on_true, kAny), ", ", Print(s->on_false, kAny),
                        ")");
  }
  if (const auto* u = tir::As<tir::Unary>(dim)) {
    if (u->op == tir::UnaryOp::kNot) {
      return absl::StrCat("not(", Print(u->a, kAny), ")");
    }
    if (u->op == tir::UnaryOp::kNeg) {
      std::string text = absl::StrCat("0 - ", Print(u->a, kProduct));
      return kSum < level ? absl::StrCat("(", text, ")") : text;
    }
  }
  return "?";
}

}  // namespace

std::string DimToString(const Dim& dim) { return Print(dim, kAny); }

std::string ShapeToString(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", DimToString(shape[i]));
  }
  return text + "]";
}

std::string QuoteName(absl::string_view name) {
  bool plain = !name.empty() && name.find("//") == absl::string_view::npos;
  for (char c : name) {
    plain = plain && (absl::ascii_isalnum(c) || c == '_' || c == '.' ||
                      c == '/' || c == '$');
  }
  return plain ? std::string(name) : QuoteString(name);
}

std::string QuoteSymbol(absl::string_view name) {
  bool plain = !name.empty() && !absl::ascii_isdigit(name[0]);
  for (char c : name) plain = plain && (absl::ascii_isalnum(c) || c == '_');
  // The words that stand for something else in an expression.
  for (absl::string_view word :
       {"min", "max", "div", "mod", "select", "and", "or", "not"}) {
    if (name == word) plain = false;
  }
  return plain ? std::string(name) : QuoteString(name);
}

}  // namespace ingot::relay
