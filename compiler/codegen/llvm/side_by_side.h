// Statements whose instructions take turns.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_SIDE_BY_SIDE_H_
#define INGOT_COMPILER_CODEGEN_LLVM_SIDE_BY_SIDE_H_

#include <vector>

#include "absl/types/span.h"
#include "compiler/tir/ir.h"
#include "llvm/IR/IRBuilder.h"

namespace ingot::codegen {

// Whether no store changes what any of them reads, so that their order does not
// matter.
bool MayTakeTurns(absl::Span<const tir::Store* const> stores);

// The instructions of statements that are emitted one after the other into one
// block. A long computation of a vector waits for each of its instructions, and
// a processor looks a few hundred instructions ahead: it sees a few
// computations one after the other, but all of some that are side by side.
class SideBySide {
 public:
  explicit SideBySide(llvm::IRBuilder<>& b)
      : b_(b), block_(b.GetInsertBlock()) {
    Begin();
  }

  // Ends a statement, and begins the next.
  void Next();
  // Lets the instructions of a few statements at a time take turns, where these
  // are long.
  void TakeTurns();

 private:
  using Chain = std::vector<llvm::Instruction*>;

  void Begin();
  // Whether no chain uses what another one computes.
  static bool AreApart(absl::Span<const Chain> chains);

  llvm::IRBuilder<>& b_;
  llvm::BasicBlock* block_;
  llvm::Instruction* before_;  // the last one before the statement
  std::vector<Chain> chains_;
};

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_SIDE_BY_SIDE_H_
