// Constant offsets of WebAssembly's loads and stores.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_FOLD_OFFSETS_H_
#define INGOT_COMPILER_CODEGEN_LLVM_FOLD_OFFSETS_H_

namespace llvm {
class FunctionPass;
}  // namespace llvm

namespace ingot::codegen {

// A pass for LLVM's code generation, to run after its strength reduction of
// loops. WebAssembly adds the offset in an instruction without wrapping around,
// so LLVM folds a constant into it only where it knows that the address does
// not either, which strength reduction forgets. This says it again of addresses
// beside which the same block accesses the base itself: both lie in one object.
llvm::FunctionPass* CreateFoldOffsetsPass();

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_FOLD_OFFSETS_H_
