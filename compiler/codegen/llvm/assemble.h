// LLVM IR that a person wrote or edited, to object code.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_ASSEMBLE_H_
#define INGOT_COMPILER_CODEGEN_LLVM_ASSEMBLE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::codegen {

// Compiles the text of a module for `triple` (empty: this machine's), as it
// stands: its functions'
// attributes say for which processor, and no pass of LLVM's optimises it.
// InvalidArgument with the line for text that is no module, is not valid, or
// is for another triple.
absl::StatusOr<std::string> AssembleLlvm(absl::string_view text,
                                         const std::string& triple);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_ASSEMBLE_H_
