#include "compiler/tir/lexer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ingot::tir {
namespace {

bool StartsName(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool ContinuesName(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.';
}

size_t NameLength(absl::string_view text) {
  size_t n = 0;
  if (text.empty() || !StartsName(text[0])) return 0;
  while (n < text.size() && ContinuesName(text[n])) ++n;
  return n;
}

size_t DigitsLength(absl::string_view text, size_t from) {
  size_t n = from;
  while (n < text.size() && absl::ascii_isdigit(text[n])) ++n;
  return n - from;
}

}  // namespace

absl::Status ErrorAt(const Token& token, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(token.line, ":", token.column, ": ", what));
}

void Lexer::Skip(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (text_[i] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }
  text_.remove_prefix(count);
}

void Lexer::SkipSpace() {
  while (!text_.empty()) {
    if (absl::ascii_isspace(text_[0])) {
      Skip(1);
    } else if (text_[0] == '#') {
      const size_t end = text_.find('\n');
      Skip(end == absl::string_view::npos ? text_.size() : end);
    } else {
      return;
    }
  }
}

absl::Status Lexer::Next(Token* token) {
  SkipSpace();
  token->line = line_;
  token->column = column_;
  token->text.clear();
  token->kind = TokenKind::kEnd;
  if (text_.empty()) return absl::OkStatus();
  const char c = text_[0];
  if (const size_t n = NameLength(text_)) {
    token->kind = TokenKind::kName;
    token->text = std::string(text_.substr(0, n));
    Skip(n);
    return absl::OkStatus();
  }
  if (absl::ascii_isdigit(c)) return Number(token);
  if (c == '"') return String(token);
  if (c == '%') {
    if (const size_t n = NameLength(text_.substr(1))) {
      token->kind = TokenKind::kBuffer;
      token->text = std::string(text_.substr(1, n));
      Skip(n + 1);
      return absl::OkStatus();
    }
  }
  static constexpr absl::string_view kSymbols[] = {
      "->", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "//", "(",
      ")",  "[",  "]",  "{",  "}",  ",",  ":",  "=",  "+",  "-",  "*",
      "/",  "%",  "<",  ">",  "&",  "|",  "^",  "!",  "~",  "@"};
  for (absl::string_view symbol : kSymbols) {
    if (text_.substr(0, symbol.size()) == symbol) {
      token->kind = TokenKind::kSymbol;
      token->text = std::string(symbol);
      Skip(symbol.size());
      return absl::OkStatus();
    }
  }
  return ErrorAt(*token,
                 absl::StrCat("unexpected character '",
                              absl::CHexEscape(text_.substr(0, 1)), "'"));
}

absl::Status Lexer::Number(Token* token) {
  token->kind = TokenKind::kInt;
  size_t n = DigitsLength(text_, 0);
  if (n < text_.size() && text_[n] == '.') {
    token->kind = TokenKind::kFloat;
    n += 1 + DigitsLength(text_, n + 1);
  }
  if (n < text_.size() && (text_[n] == 'e' || text_[n] == 'E')) {
    size_t digits = n + 1;
    if (digits < text_.size() &&
        (text_[digits] == '+' || text_[digits] == '-')) {
      ++digits;
    }
    const size_t count = DigitsLength(text_, digits);
    if (count == 0) return ErrorAt(*token, "a number's exponent is missing");
    token->kind = TokenKind::kFloat;
    n = digits + count;
  }
  if (n < text_.size() && text_[n] == 'f') {
    token->kind = TokenKind::kFloat;
    ++n;
  }
  if (n < text_.size() && ContinuesName(text_[n])) {
    return ErrorAt(*token, "a letter right behind a number");
  }
  token->text = std::string(text_.substr(0, n));
  Skip(n);
  return absl::OkStatus();
}

absl::Status Lexer::String(Token* token) {
  size_t n = 1;
  while (n < text_.size() && text_[n] != '"' && text_[n] != '\n') {
    n += text_[n] == '\\' ? 2 : 1;
  }
  if (n >= text_.size() || text_[n] != '"') {
    return ErrorAt(*token, "a string without an end");
  }
  token->kind = TokenKind::kString;
  std::string error;
  if (!absl::CUnescape(text_.substr(1, n - 1), &token->text, &error)) {
    return ErrorAt(*token, absl::StrCat("bad string: ", error));
  }
  Skip(n + 1);
  return absl::OkStatus();
}

}  // namespace ingot::tir
