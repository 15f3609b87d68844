// Names and strings as the lexer reads them back.
#ifndef INGOT_BASE_TEXT_QUOTE_H_
#define INGOT_BASE_TEXT_QUOTE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ingot::text {

// In double quotes, with C escapes.
std::string QuotedString(absl::string_view text);

// A name as it stands after % or @: itself when it is made of letters, digits
// and "_./$" (and holds no "//"), quoted otherwise.
std::string QuotedName(absl::string_view name);

// A symbol as it stands in an expression over dimensions: an identifier that no
// function there has, or quoted.
std::string QuotedSymbol(absl::string_view name);

}  // namespace ingot::text

#endif  // INGOT_BASE_TEXT_QUOTE_H_
