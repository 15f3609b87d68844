#include "runtime/plan/text/parse_parts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/lexer.h"
#include "runtime/data_type.h"
#include "runtime/plan/dim_expr.h"

namespace ingot {
namespace {

using text::Token;
using text::TokenKind;

constexpr absl::string_view kSymbols[] = {"{", "}", "(", ")", "[", "]",
                                          "<", ">", ",", ":", "=", "+",
                                          "-", "*", "/", "%"};

const text::Dialect& PlanDialect() {
  static const text::Dialect* const kDialect = [] {
    auto* dialect = new text::Dialect;
    dialect->comment = "#";
    dialect->symbols = kSymbols;
    dialect->name_marks = "./$";
    dialect->names_begin_anyhow = true;
    dialect->quoted_names = "%@";
    return dialect;
  }();
  return *kDialect;
}

}  // namespace

PlanPartsParser::PlanPartsParser(absl::string_view text)
    : TokenParser(text, PlanDialect()) {}

absl::StatusOr<bool> PlanPartsParser::AcceptWord(absl::string_view word) {
  if (!token_.IsWord(word)) return false;
  INGOT_RETURN_IF_ERROR(Advance());
  return true;
}

absl::StatusOr<uint64_t> PlanPartsParser::ParseNumber(uint64_t most) {
  uint64_t value = 0;
  if (token_.kind != TokenKind::kInt) return Unexpected("a number");
  if (!absl::SimpleAtoi(token_.text, &value) || value > most) {
    return Error(absl::StrCat("the number is larger than ", most));
  }
  INGOT_RETURN_IF_ERROR(Advance());
  return value;
}

absl::StatusOr<uint32_t> PlanPartsParser::ParseIndex() {
  INGOT_ASSIGN_OR_RETURN(const uint64_t index,
                         ParseNumber(std::numeric_limits<uint32_t>::max()));
  return static_cast<uint32_t>(index);
}

absl::StatusOr<int64_t> PlanPartsParser::ParseInt() {
  INGOT_ASSIGN_OR_RETURN(const bool negative, Accept("-"));
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  INGOT_ASSIGN_OR_RETURN(const uint64_t size,
                         ParseNumber(negative ? kMost + 1 : kMost));
  return static_cast<int64_t>(negative ? 0 - size : size);
}

absl::StatusOr<std::string> PlanPartsParser::ParseName(absl::string_view what) {
  return ExpectText(
      token_.kind == TokenKind::kString ? TokenKind::kString : TokenKind::kWord,
      what);
}

absl::StatusOr<uint32_t> PlanPartsParser::ParseSymbol(const Symbols& symbols) {
  const Token at = token_;
  INGOT_ASSIGN_OR_RETURN(const std::string name, ParseName("a dimension"));
  const auto it = symbols.find(name);
  if (it != symbols.end()) return it->second;
  return ErrorAt(at, absl::StrCat("no symbol is named ", Shown(at)));
}

absl::StatusOr<PlanPartsParser::Deep> PlanPartsParser::Combine(const Token& at,
                                                               DimExpr::Op op,
                                                               Deep a,
                                                               Deep b) const {
  Deep result;
  result.depth = 1 + std::max(a.depth, b.depth);
  if (result.depth > kMaxDimExprDepth) {
    return ErrorAt(at, "the expression is too deep");
  }
  result.expr.set_op(op);
  *result.expr.add_operands() = std::move(a.expr);
  *result.expr.add_operands() = std::move(b.expr);
  return result;
}

absl::StatusOr<PlanPartsParser::Deep> PlanPartsParser::ParseSum(
    const Symbols& symbols) {
  INGOT_ASSIGN_OR_RETURN(Deep left, ParseProduct(symbols));
  while (token_.IsSymbol("+") || token_.IsSymbol("-")) {
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_ASSIGN_OR_RETURN(Deep right, ParseProduct(symbols));
    INGOT_ASSIGN_OR_RETURN(
        left, Combine(at, at.text == "+" ? DimExpr::ADD : DimExpr::SUB,
                      std::move(left), std::move(right)));
  }
  return left;
}

absl::StatusOr<PlanPartsParser::Deep> PlanPartsParser::ParseProduct(
    const Symbols& symbols) {
  INGOT_ASSIGN_OR_RETURN(Deep left, ParseAtom(symbols));
  while (token_.IsSymbol("*") || token_.IsSymbol("/") || token_.IsSymbol("%")) {
    const Token at = token_;
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_ASSIGN_OR_RETURN(Deep right, ParseAtom(symbols));
    const DimExpr::Op op = at.text == "*"   ? DimExpr::MUL
                           : at.text == "/" ? DimExpr::FLOOR_DIV
                                            : DimExpr::FLOOR_MOD;
    INGOT_ASSIGN_OR_RETURN(left,
                           Combine(at, op, std::move(left), std::move(right)));
  }
  return left;
}

absl::StatusOr<PlanPartsParser::Deep> PlanPartsParser::ParseAtom(
    const Symbols& symbols) {
  if (token_.IsSymbol("(")) {
    INGOT_RETURN_IF_ERROR(Enter());
    INGOT_RETURN_IF_ERROR(Advance());
    INGOT_ASSIGN_OR_RETURN(Deep inner, ParseSum(symbols));
    INGOT_RETURN_IF_ERROR(Expect(")"));
    Leave();
    return inner;
  }
  if (token_.kind == TokenKind::kInt || token_.IsSymbol("-")) {
    Deep number;
    INGOT_ASSIGN_OR_RETURN(const int64_t value, ParseInt());
    number.expr.set_value(value);
    return number;
  }
  return ParseSymbolOrCall(symbols);
}

absl::StatusOr<PlanPartsParser::Deep> PlanPartsParser::ParseSymbolOrCall(
    const Symbols& symbols) {
  const Token at = token_;
  const bool is_min = at.IsWord("min");
  if (!is_min && !at.IsWord("max")) {
    Deep symbol;
    INGOT_ASSIGN_OR_RETURN(const uint32_t index, ParseSymbol(symbols));
    symbol.expr.set_op(DimExpr::SYMBOL);
    symbol.expr.set_value(index);
    return symbol;
  }
  INGOT_RETURN_IF_ERROR(Enter());
  INGOT_RETURN_IF_ERROR(Advance());
  INGOT_RETURN_IF_ERROR(Expect("("));
  INGOT_ASSIGN_OR_RETURN(Deep a, ParseSum(symbols));
  INGOT_RETURN_IF_ERROR(Expect(","));
  INGOT_ASSIGN_OR_RETURN(Deep b, ParseSum(symbols));
  INGOT_RETURN_IF_ERROR(Expect(")"));
  Leave();
  return Combine(at, is_min ? DimExpr::MIN : DimExpr::MAX, std::move(a),
                 std::move(b));
}

absl::StatusOr<DimExpr> PlanPartsParser::ParseDim(const Symbols& symbols) {
  INGOT_ASSIGN_OR_RETURN(Deep deep, ParseSum(symbols));
  return std::move(deep.expr);
}

absl::Status PlanPartsParser::ParseDims(
    const Symbols& symbols, google::protobuf::RepeatedPtrField<DimExpr>* dims) {
  INGOT_RETURN_IF_ERROR(Expect("["));
  return List("]", [&]() -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(*dims->Add(), ParseDim(symbols));
    return absl::OkStatus();
  });
}

absl::Status PlanPartsParser::ParseType(const Symbols& symbols,
                                        PlanTensor* tensor,
                                        PlanType* declared) {
  INGOT_ASSIGN_OR_RETURN(const bool is_sequence, AcceptWord("sequence"));
  if (is_sequence) {
    INGOT_RETURN_IF_ERROR(Expect("<"));
  }
  const Token at = token_;
  INGOT_ASSIGN_OR_RETURN(const std::string word,
                         ExpectText(TokenKind::kWord, "a type"));
  const absl::StatusOr<DataType> type = DataType::Parse(word);
  if (!type.ok() || type->lanes != 1) {
    return ErrorAt(at, absl::StrCat(Shown(at), " is no type"));
  }
  declared->mutable_dtype()->set_code(type->code);
  declared->mutable_dtype()->set_bits(type->bits);
  tensor->set_is_sequence(is_sequence);
  return is_sequence ? Expect(">")
                     : ParseDims(symbols, declared->mutable_shape());
}

}  // namespace ingot
