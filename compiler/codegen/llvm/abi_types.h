// LLVM's types for the C ABI's structures.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_ABI_TYPES_H_
#define INGOT_COMPILER_CODEGEN_LLVM_ABI_TYPES_H_

#include <vector>

#include "absl/types/span.h"
#include "compiler/codegen/c_abi_fields.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/LLVMContext.h"

namespace ingot::codegen {

// A structure of these fields; the target's data layout places them.
inline llvm::StructType* AbiStruct(llvm::LLVMContext& context,
                                   absl::Span<const AbiField> fields) {
  std::vector<llvm::Type*> types;
  for (const AbiField& field : fields) {
    if (field.type == AbiType::kPointer) {
      types.push_back(llvm::PointerType::getUnqual(context));
    } else {
      types.push_back(llvm::IntegerType::get(context, 8 * SizeOf(field.type)));
    }
  }
  return llvm::StructType::get(context, types);
}

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_ABI_TYPES_H_
