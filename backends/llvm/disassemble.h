#ifndef INGOT_BACKENDS_LLVM_DISASSEMBLE_H_
#define INGOT_BACKENDS_LLVM_DISASSEMBLE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// The nodes of the model that functions compute, by the functions' names.
using NodesOfFunctions = std::map<std::string, std::string>;

// Describes an object file as text: its format, sections, symbols with their
// sizes, and the instructions of its code (code_listing.h).
// The bytes may be hostile: InvalidArgument, beginning with `name`, for what is
// no object file. For a processor that this LLVM does not know, the text has
// everything but the instructions.
absl::StatusOr<std::string> DescribeObject(absl::string_view bytes,
                                           absl::string_view name,
                                           const NodesOfFunctions& nodes);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LLVM_DISASSEMBLE_H_
