#include "base/text/quote.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace ingot::text {

std::string QuotedString(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text), "\"");
}

std::string QuotedName(absl::string_view name) {
  bool plain = !name.empty() && name.find("//") == absl::string_view::npos;
  for (char c : name) {
    plain = plain && (absl::ascii_isalnum(c) || c == '_' || c == '.' ||
                      c == '/' || c == '$');
  }
  return plain ? std::string(name) : QuotedString(name);
}

std::string QuotedSymbol(absl::string_view name) {
  bool plain = !name.empty() && !absl::ascii_isdigit(name[0]);
  for (char c : name) plain = plain && (absl::ascii_isalnum(c) || c == '_');
  // The words that stand for something else in an expression.
  for (absl::string_view word :
       {"min", "max", "div", "mod", "select", "and", "or", "not"}) {
    if (name == word) plain = false;
  }
  return plain ? std::string(name) : QuotedString(name);
}

}  // namespace ingot::text
