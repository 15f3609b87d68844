#include "compiler/relay/pattern_parser.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/token_parser.h"
#include "compiler/relay/op.h"

namespace ingot::relay {
namespace {

using text::TokenKind;

constexpr absl::string_view kSymbols[] = {"(", ")", "[", "]", ",", "|", "*"};
constexpr absl::string_view kAny = "*", kConstant = "const";

const text::Dialect& PatternDialect() {
  static const text::Dialect* const kDialect = [] {
    auto* dialect = new text::Dialect;
    dialect->comment = "//";
    dialect->symbols = kSymbols;
    return dialect;
  }();
  return *kDialect;
}

class PatternParser : text::TokenParser {
 public:
  explicit PatternParser(absl::string_view text)
      : TokenParser(text, PatternDialect()) {}

  absl::StatusOr<Pattern> Parse() {
    INGOT_RETURN_IF_ERROR(Advance());
    if (token_.IsSymbol(kAny) || token_.IsWord(kConstant)) {
      return Unexpected("a call of an operator");
    }
    INGOT_ASSIGN_OR_RETURN(Pattern pattern, ParseOperand());
    if (token_.kind != TokenKind::kEnd) return Unexpected("the end");
    return pattern;
  }

 private:
  absl::StatusOr<Pattern> ParseOperand() {
    INGOT_ASSIGN_OR_RETURN(const bool is_any, Accept(kAny));
    if (is_any) return Pattern::Any();
    if (token_.IsWord(kConstant)) {
      INGOT_RETURN_IF_ERROR(Advance());
      return Pattern::Constant();
    }
    INGOT_RETURN_IF_ERROR(Enter());
    INGOT_ASSIGN_OR_RETURN(Pattern pattern, ParseCall());
    Leave();
    return pattern;
  }

  // Reads `op`, `op(…)`, `(a|b)(…)` or `[a|b](…)`.
  absl::StatusOr<Pattern> ParseCall() {
    INGOT_ASSIGN_OR_RETURN(const bool optional, Accept("["));
    bool grouped = false;
    if (!optional) {
      INGOT_ASSIGN_OR_RETURN(grouped, Accept("("));
    }
    INGOT_ASSIGN_OR_RETURN(std::vector<std::string> ops, ParseOps());
    if (optional) INGOT_RETURN_IF_ERROR(Expect("]"));
    if (grouped) INGOT_RETURN_IF_ERROR(Expect(")"));
    std::vector<Pattern> operands;
    INGOT_ASSIGN_OR_RETURN(const bool has_operands, Accept("("));
    if (has_operands) {
      INGOT_RETURN_IF_ERROR(List(")", [&]() -> absl::Status {
        INGOT_ASSIGN_OR_RETURN(Pattern operand, ParseOperand());
        operands.push_back(std::move(operand));
        return absl::OkStatus();
      }));
    }
    if (!optional) return Pattern::Op(std::move(ops), std::move(operands));
    if (operands.empty()) return Unexpected("what it may be just");
    Pattern inner = operands.front();
    operands.erase(operands.begin());
    return Pattern::Maybe(std::move(ops), std::move(inner),
                          std::move(operands));
  }

  absl::StatusOr<std::vector<std::string>> ParseOps() {
    std::vector<std::string> ops;
    for (bool more = true; more;) {
      if (token_.kind == TokenKind::kWord &&
          StandardOps().Find(token_.text) == nullptr) {
        return Error(absl::StrCat("relay has no operator '", token_.text, "'"));
      }
      INGOT_ASSIGN_OR_RETURN(std::string op,
                             ExpectText(TokenKind::kWord, "an operator"));
      ops.push_back(std::move(op));
      INGOT_ASSIGN_OR_RETURN(more, Accept("|"));
    }
    return ops;
  }
};

}  // namespace

absl::StatusOr<Pattern> ParsePattern(absl::string_view text) {
  return PatternParser(text).Parse();
}

}  // namespace ingot::relay
