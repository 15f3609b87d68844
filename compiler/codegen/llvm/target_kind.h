// Shared by the target kinds that compile with LLVM.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_TARGET_KIND_H_
#define INGOT_COMPILER_CODEGEN_LLVM_TARGET_KIND_H_

#include "absl/strings/string_view.h"
#include "compiler/codegen/llvm/compile.h"
#include "compiler/target/target.h"

namespace ingot::codegen {

// A kind with the options of a machine and -O=0..3. All kernels of a call
// become one artifact, for `loader`: "kernels" and `suffix`, after the symbol
// prefix if there is one.
TargetKind MakeLlvmTargetKind(absl::string_view name, absl::string_view doc,
                              absl::string_view loader,
                              absl::string_view suffix, LlvmOutput output);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_TARGET_KIND_H_
