#include "compiler/relay/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ingot::relay {
namespace {

bool IsNameChar(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '/' || c == '$';
}

// How long the plain name at the start of `text` is; it ends before a comment.
size_t NameLength(absl::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsNameChar(text[n]) && text.substr(n, 2) != "//") {
    ++n;
  }
  return n;
}

}  // namespace

absl::Status Lexer::Error(const Token& at, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(at.line, ":", at.column, ": ", what));
}

void Lexer::Advance(size_t count) {
  for (; count > 0 && at_ < text_.size(); --count, ++at_) {
    if (text_[at_] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }
}

void Lexer::Skip() {
  while (at_ < text_.size()) {
    if (absl::ascii_isspace(text_[at_])) {
      Advance(1);
    } else if (text_.substr(at_, 2) == "//") {
      const size_t end = text_.find('\n', at_);
      Advance((end == absl::string_view::npos ? text_.size() : end) - at_);
    } else {
      return;
    }
  }
}

absl::Status Lexer::Quoted(Token* token) {
  size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
    end += text_[end] == '\\' ? 2 : 1;
  }
  if (end >= text_.size() || text_[end] != '"') {
    return Error(*token, "a string does not end on its line");
  }
  std::string error;
  if (!absl::CUnescape(text_.substr(at_ + 1, end - at_ - 1), &token->text,
                       &error)) {
    return Error(*token, absl::StrCat("in a string: ", error));
  }
  Advance(end + 1 - at_);
  return absl::OkStatus();
}

absl::Status Lexer::Next(Token* token) {
  Skip();
  *token = Token();
  token->line = line_;
  token->column = column_;
  if (at_ >= text_.size()) return absl::OkStatus();
  const char c = text_[at_];
  if (c == '"') {
    token->kind = TokenKind::kString;
    return Quoted(token);
  }
  if (c == '%' || c == '@') {
    const absl::string_view rest = text_.substr(at_ + 1);
    const bool quoted = !rest.empty() && rest[0] == '"';
    const size_t length = quoted ? 0 : NameLength(rest);
    if (quoted || length > 0) {
      token->kind = c == '%' ? TokenKind::kValue : TokenKind::kFunction;
      Advance(1);
      if (quoted) return Quoted(token);
      token->text = std::string(rest.substr(0, length));
      Advance(length);
      return absl::OkStatus();
    }
  }
  if (absl::ascii_isalpha(c) || c == '_') {
    size_t end = at_;
    while (end < text_.size() &&
           (absl::ascii_isalnum(text_[end]) || text_[end] == '_')) {
      ++end;
    }
    token->kind = TokenKind::kIdentifier;
    token->text = std::string(text_.substr(at_, end - at_));
    Advance(end - at_);
    return absl::OkStatus();
  }
  if (absl::ascii_isdigit(c)) {
    size_t end = at_;
    while (end < text_.size()) {
      const char d = text_[end];
      const bool exponent_sign =
          (d == '-' || d == '+') && (text_[end - 1] == 'e');
      if (!absl::ascii_isdigit(d) && d != '.' && d != 'e' && !exponent_sign) {
        break;
      }
      ++end;
    }
    token->kind = TokenKind::kNumber;
    token->text = std::string(text_.substr(at_, end - at_));
    Advance(end - at_);
    return absl::OkStatus();
  }
  token->kind = TokenKind::kPunctuation;
  for (absl::string_view two : {"->", "==", "!=", "<=", ">="}) {
    if (text_.substr(at_, 2) == two) {
      token->text = std::string(two);
      Advance(2);
      return absl::OkStatus();
    }
  }
  token->text = std::string(1, c);
  Advance(1);
  return absl::OkStatus();
}

}  // namespace ingot::relay
