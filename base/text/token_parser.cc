#include "base/text/token_parser.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ingot::text {
namespace {

// An error repeats at most so much of a token.
constexpr size_t kMostShown = 40;

}  // namespace

std::string TokenParser::Shown(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "the end";
  return absl::StrCat("'", absl::CHexEscape(token.text.substr(0, kMostShown)),
                      "'");
}

absl::Status TokenParser::Unexpected(absl::string_view expected) const {
  return Error(absl::StrCat("expected ", expected, ", found ", Shown(token_)));
}

absl::Status TokenParser::Expect(absl::string_view symbol) {
  if (!token_.IsSymbol(symbol)) {
    return Unexpected(absl::StrCat("'", symbol, "'"));
  }
  return Advance();
}

absl::Status TokenParser::ExpectWord(absl::string_view word) {
  if (!token_.IsWord(word)) return Unexpected(absl::StrCat("'", word, "'"));
  return Advance();
}

absl::StatusOr<std::string> TokenParser::ExpectText(TokenKind kind,
                                                    absl::string_view what) {
  if (token_.kind != kind) return Unexpected(what);
  std::string text = token_.text;
  INGOT_RETURN_IF_ERROR(Advance());
  return text;
}

absl::StatusOr<bool> TokenParser::Accept(absl::string_view symbol) {
  if (!token_.IsSymbol(symbol)) return false;
  INGOT_RETURN_IF_ERROR(Advance());
  return true;
}

absl::Status TokenParser::Enter() {
  if (++nesting_ > kMaxNesting) return Error("nested too deeply");
  return absl::OkStatus();
}

}  // namespace ingot::text
