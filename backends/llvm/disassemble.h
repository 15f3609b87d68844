#ifndef INGOT_BACKENDS_LLVM_DISASSEMBLE_H_
#define INGOT_BACKENDS_LLVM_DISASSEMBLE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// Describes an object file as text: its format, sections, symbols with their
// sizes, and the instructions of its code with the symbols that they refer to.
// The bytes may be hostile: InvalidArgument, beginning with `name`, for what is
// no object file. For a processor that this LLVM does not know, the text has
// everything but the instructions.
absl::StatusOr<std::string> DescribeObject(absl::string_view bytes,
                                           absl::string_view name);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVM_DISASSEMBLE_H_
