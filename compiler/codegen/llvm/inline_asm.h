// Instructions that LLVM has no intrinsics for, as text. Private to this
// folder.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_INLINE_ASM_H_
#define INGOT_COMPILER_CODEGEN_LLVM_INLINE_ASM_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace ingot::codegen {

// Emits instructions that may read and write any memory. Constraints are as
// LLVM's language reference has them: those of the result come first.
inline llvm::Value* EmitAsm(llvm::IRBuilder<>& b, llvm::Type* result,
                            const std::vector<llvm::Value*>& arguments,
                            const std::string& text,
                            const std::string& constraints) {
  std::vector<llvm::Type*> types;
  for (const llvm::Value* argument : arguments) {
    types.push_back(argument->getType());
  }
  const std::string all =
      absl::StrCat(constraints, constraints.empty() ? "" : ",", "~{memory}");
  return b.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(result, types, false), text,
                           all, /*hasSideEffects=*/true),
      arguments);
}

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_INLINE_ASM_H_
