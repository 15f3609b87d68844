#ifndef INGOT_COMPILER_TIR_PARSER_H_
#define INGOT_COMPILER_TIR_PARSER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/tir/ir.h"

namespace ingot::tir {

// Reads the text form that printer.h describes: one function. The text may be
// hostile: anything wrong is an InvalidArgument "line:column: what", nesting is
// limited, and the time is linear. What comes back is well typed and its names
// are in scope, but Verify checks more. Constants are folded by the builder.
absl::StatusOr<PrimFunc> Parse(absl::string_view text);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_PARSER_H_
