#include "base/text/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ingot::text {
namespace {

bool Contains(absl::string_view marks, char c) {
  return marks.find(c) != absl::string_view::npos;
}

bool BeginsWord(char c) { return absl::ascii_isalpha(c) || c == '_'; }

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
    } else if (absl::StartsWith(text_, dialect_->comment)) {
      const size_t end = text_.find('\n');
      Skip(end == absl::string_view::npos ? text_.size() : end);
    } else {
      return;
    }
  }
}

bool Lexer::ContinuesWord(char c) const {
  return absl::ascii_isalnum(c) || c == '_' ||
         Contains(dialect_->word_marks, c);
}

// The length of the name at the start of `text`; it ends before a comment.
size_t Lexer::NameLength(absl::string_view text) const {
  if (text.empty()) return 0;
  if (!dialect_->names_begin_anyhow && !BeginsWord(text[0])) return 0;
  size_t n = 0;
  while (n < text.size() &&
         (absl::ascii_isalnum(text[n]) || text[n] == '_' ||
          Contains(dialect_->name_marks, text[n])) &&
         !absl::StartsWith(text.substr(n), dialect_->comment)) {
    ++n;
  }
  return n;
}

void Lexer::Take(TokenKind kind, size_t length, Token* token) {
  token->kind = kind;
  token->text = std::string(text_.substr(0, length));
  Skip(length);
}

absl::Status Lexer::Next(Token* token) {
  SkipSpace();
  *token = Token();
  token->line = line_;
  token->column = column_;
  if (text_.empty()) return absl::OkStatus();
  const char c = text_[0];
  if (BeginsWord(c)) {
    size_t n = 1;
    while (n < text_.size() && ContinuesWord(text_[n])) ++n;
    Take(TokenKind::kWord, n, token);
    return absl::OkStatus();
  }
  if (absl::ascii_isdigit(c)) return Number(token);
  if (c == '"') return Quoted(TokenKind::kString, token);
  if (c == '%' || c == '@') {
    const TokenKind kind =
        c == '%' ? TokenKind::kPercentName : TokenKind::kAtName;
    const absl::string_view name = text_.substr(1);
    if (absl::StartsWith(name, "\"") && Contains(dialect_->quoted_names, c)) {
      Skip(1);
      return Quoted(kind, token);
    }
    if (const size_t n = NameLength(name)) {
      Skip(1);
      Take(kind, n, token);
      return absl::OkStatus();
    }
  }
  for (absl::string_view symbol : dialect_->symbols) {
    if (!absl::StartsWith(text_, symbol)) continue;
    Take(TokenKind::kSymbol, symbol.size(), token);
    return absl::OkStatus();
  }
  return ErrorAt(*token,
                 absl::StrCat("unexpected character '",
                              absl::CHexEscape(text_.substr(0, 1)), "'"));
}

absl::Status Lexer::Number(Token* token) {
  TokenKind kind = TokenKind::kInt;
  size_t n = DigitsLength(text_, 0);
  if (n < text_.size() && text_[n] == '.') {
    kind = TokenKind::kFloat;
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
    kind = TokenKind::kFloat;
    n = digits + count;
  }
  if (dialect_->float_suffix && n < text_.size() && text_[n] == 'f') {
    kind = TokenKind::kFloat;
    ++n;
  }
  if (n < text_.size() && ContinuesWord(text_[n])) {
    return ErrorAt(*token, "a letter follows a number");
  }
  Take(kind, n, token);
  return absl::OkStatus();
}

// Escapes are C's. The quotes close on the line that they open on.
absl::Status Lexer::Quoted(TokenKind kind, Token* token) {
  size_t end = 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
    end += text_[end] == '\\' ? 2 : 1;
  }
  if (end >= text_.size() || text_[end] != '"') {
    return ErrorAt(*token, "a string does not end on its line");
  }
  token->kind = kind;
  std::string error;
  if (!absl::CUnescape(text_.substr(1, end - 1), &token->text, &error)) {
    return ErrorAt(*token, absl::StrCat("in a string: ", error));
  }
  Skip(end + 1);
  return absl::OkStatus();
}

}  // namespace ingot::text
