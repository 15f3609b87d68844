#ifndef INGOT_COMPILER_TIR_LEXER_H_
#define INGOT_COMPILER_TIR_LEXER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ingot::tir {

enum class TokenKind {
  kEnd,
  kName,    // a word
  kBuffer,  // %name, without the %
  kInt,     // 12
  kFloat,   // 1.5, 1.5f, 2e-3f, as written
  kString,  // unescaped
  kSymbol,  // operators and brackets, the longest that fits
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  int line = 1;
  int column = 1;  // of bytes, from 1

  bool IsSymbol(absl::string_view s) const {
    return kind == TokenKind::kSymbol && text == s;
  }
  bool IsName(absl::string_view s) const {
    return kind == TokenKind::kName && text == s;
  }
};

// InvalidArgument "line:column: what".
absl::Status ErrorAt(const Token& token, absl::string_view what);

// Splits the text into tokens, one ahead of the reader. `text` must outlive it.
class Lexer {
 public:
  explicit Lexer(absl::string_view text) : text_(text) {}

  // Reads the next token; the end again and again at the end.
  absl::Status Next(Token* token);

 private:
  void Skip(size_t count);
  void SkipSpace();
  absl::Status Number(Token* token);
  absl::Status String(Token* token);

  absl::string_view text_;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_LEXER_H_
