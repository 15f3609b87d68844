// The text form of symbolic dimensions, as types and attributes print them:
// `n * 2 + 1`, `(n - 1) / 2`, `max(n, 4)`.
#ifndef INGOT_COMPILER_RELAY_DIM_TEXT_H_
#define INGOT_COMPILER_RELAY_DIM_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/text/printer.h"

namespace ingot::relay {

// With only as many parentheses as it takes. Operators are + - * / % (the
// last two round towards minus infinity), functions min, max, div (truncating),
// mod (its remainder), select, and, or, not; comparisons always stand in
// parentheses. Other nodes, which no dimension holds, print as "?".
std::string DimToString(const Dim& dim);

// "[n, 64]".
std::string ShapeToString(const Shape& shape);

// A name as it stands in text: itself when it is made of letters, digits and
// "_./$" (and holds no comment), quoted otherwise.
std::string QuoteName(absl::string_view name);

// A symbol as it stands in an expression: an identifier, or quoted.
std::string QuoteSymbol(absl::string_view name);

using text::QuoteString;

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_DIM_TEXT_H_
