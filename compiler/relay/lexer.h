// Tokens of the text form. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_LEXER_H_
#define INGOT_COMPILER_RELAY_LEXER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ingot::relay {

enum class TokenKind {
  kEnd,
  kIdentifier,  // letters, digits, _
  kNumber,      // as written, without a sign
  kString,      // unescaped
  kValue,       // %name, text without the %
  kFunction,    // @name, text without the @
  kPunctuation,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  int line = 1;
  int column = 1;

  bool Is(absl::string_view punctuation) const {
    return kind == TokenKind::kPunctuation && text == punctuation;
  }
  bool IsWord(absl::string_view word) const {
    return kind == TokenKind::kIdentifier && text == word;
  }
};

// Splits text into tokens, one at a time. `text` must outlive it.
class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  // Reads the next token. InvalidArgument "line:column: …".
  absl::Status Next(Token* token);

  static absl::Status Error(const Token& at, absl::string_view what);

 private:
  void Skip();
  void Advance(size_t count);
  absl::Status Quoted(Token* token);

  absl::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_LEXER_H_
