// Tokens of the IRs' text forms.
#ifndef INGOT_BASE_TEXT_LEXER_H_
#define INGOT_BASE_TEXT_LEXER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot::text {

enum class TokenKind {
  kEnd,
  kWord,         // begins with a letter or _
  kPercentName,  // %name, without the %
  kAtName,       // @name, without the @
  kInt,          // 12, as written, without a sign
  kFloat,        // 1.5, 2e-3, as written
  kString,       // unescaped
  kSymbol,       // the longest of the dialect's that fits
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  int line = 1;
  int column = 1;  // in bytes, from 1

  bool IsSymbol(absl::string_view symbol) const {
    return kind == TokenKind::kSymbol && text == symbol;
  }
  bool IsWord(absl::string_view word) const {
    return kind == TokenKind::kWord && text == word;
  }
  bool IsNumber() const {
    return kind == TokenKind::kInt || kind == TokenKind::kFloat;
  }
};

// A dialect says how a text form differs from others. The views must live as
// long as what uses them.
struct Dialect {
  // Begins a comment, which ends with its line.
  absl::string_view comment;
  // Operators and brackets, a longer one before those that it begins with.
  absl::Span<const absl::string_view> symbols;
  // Characters of a word, and of a %name or @name, besides letters, digits
  // and _.
  absl::string_view word_marks;
  absl::string_view name_marks;
  // Whether a %name or @name may begin with any of its characters.
  bool names_begin_anyhow = false;
  // The characters of % and @ after which a name may be quoted.
  absl::string_view quoted_names;
  // Whether a number may end in f, which makes it a float.
  bool float_suffix = false;
};

// InvalidArgument "line:column: what".
absl::Status ErrorAt(const Token& token, absl::string_view what);

// Splits the text into tokens. Copies go on from the same place, for looking
// ahead. The text and the dialect must outlive it.
class Lexer {
 public:
  Lexer(absl::string_view text, const Dialect& dialect)
      : text_(text), dialect_(&dialect) {}

  // Reads the next token; the end again and again at the end. InvalidArgument,
  // with the place, for what is no token.
  absl::Status Next(Token* token);

 private:
  void Take(TokenKind kind, size_t length, Token* token);
  void Skip(size_t count);
  void SkipSpace();
  size_t NameLength(absl::string_view text) const;
  bool ContinuesWord(char c) const;
  absl::Status Number(Token* token);
  absl::Status Quoted(TokenKind kind, Token* token);

  absl::string_view text_;  // what is left
  const Dialect* dialect_;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace ingot::text

#endif  // INGOT_BASE_TEXT_LEXER_H_
