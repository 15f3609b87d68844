// Which functions LLVM's strength reduction of loops looks at.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_STRENGTH_REDUCTION_H_
#define INGOT_COMPILER_CODEGEN_LLVM_STRENGTH_REDUCTION_H_

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Pass.h"

namespace ingot::codegen {

// Keeps the pass away from functions of many loops, as kernels of symbolic
// sizes are, whose tiles have tails: there it takes up to four fifths of the
// time of code generation, while x86, whose instructions add up addresses, runs
// them no slower without. Where a function has few loops, it is fast, and the
// loops are sometimes slower without.
//
// A gate of the context whose functions CreatePass' pass sees; it outlives the
// passes.
class StrengthReductionGate : public llvm::OptPassGate {
 public:
  // A pass that changes nothing, to run right before strength reduction.
  llvm::FunctionPass* CreatePass();

  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) override {
    return !has_many_loops_ || pass != "Loop Strength Reduction";
  }
  bool isEnabled() const override { return true; }

 private:
  class CountLoops;

  bool has_many_loops_ = false;  // the function that passes run on
};

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_STRENGTH_REDUCTION_H_
