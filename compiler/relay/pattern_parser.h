// Patterns are read from text for backends that are not C++.
#ifndef INGOT_COMPILER_RELAY_PATTERN_PARSER_H_
#define INGOT_COMPILER_RELAY_PATTERN_PARSER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/pattern.h"

namespace ingot::relay {

// Reads what Pattern::ToString writes. InvalidArgument, with the place, for
// text that is no call of an operator, and for operators that relay does not
// have.
absl::StatusOr<Pattern> ParsePattern(absl::string_view text);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PATTERN_PARSER_H_
