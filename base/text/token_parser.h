// The base of parsers by recursive descent.
#ifndef INGOT_BASE_TEXT_TOKEN_PARSER_H_
#define INGOT_BASE_TEXT_TOKEN_PARSER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "base/text/lexer.h"

namespace ingot::text {

// One token of lookahead: each function starts at token_, reads what its name
// says and leaves token_ after it. Errors are InvalidArgument and begin with
// "line:column: ".
class TokenParser {
 protected:
  // `text` and `dialect` must outlive this.
  TokenParser(absl::string_view text, const Dialect& dialect)
      : lexer_(text, dialect) {}

  absl::Status Advance() { return lexer_.Next(&token_); }
  absl::Status Error(absl::string_view what) const {
    return ErrorAt(token_, what);
  }
  // "expected …, found …".
  absl::Status Unexpected(absl::string_view expected) const;
  // The token in quotes, escaped and cut, for an error.
  static std::string Shown(const Token& token);
  absl::Status Expect(absl::string_view symbol);
  absl::Status ExpectWord(absl::string_view word);
  absl::StatusOr<std::string> ExpectText(TokenKind kind,
                                         absl::string_view what);
  // Whether the symbol was there; then it is consumed.
  absl::StatusOr<bool> Accept(absl::string_view symbol);

  // item, item, … up to `close`, which is consumed. A comma may come last.
  template <typename F>
  absl::Status List(absl::string_view close, const F& item) {
    while (!token_.IsSymbol(close)) {
      INGOT_RETURN_IF_ERROR(item());
      if (token_.IsSymbol(close)) break;
      INGOT_RETURN_IF_ERROR(Expect(","));
    }
    return Advance();
  }

  // Counts one more nesting of what is being read, which Leave takes back:
  // recursion takes stack, so that hostile text may not go deeper than
  // kMaxNesting.
  absl::Status Enter();
  void Leave() { --nesting_; }
  static constexpr int kMaxNesting = 200;

  Lexer lexer_;
  Token token_;

 private:
  int nesting_ = 0;
};

}  // namespace ingot::text

#endif  // INGOT_BASE_TEXT_TOKEN_PARSER_H_
