#include "compiler/codegen/llvm/strength_reduction.h"

#include <cstddef>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace ingot::codegen {
namespace {

// Of yunet_s_dynamic's kernels, the pass takes at most 55 ms of those with up
// to 9 loops, and 150 to 580 of those with 19 to 22.
constexpr size_t kManyLoops = 16;

}  // namespace

class StrengthReductionGate::CountLoops final : public llvm::FunctionPass {
 public:
  static char id;
  explicit CountLoops(StrengthReductionGate* gate)
      : FunctionPass(id), gate_(gate) {}

  llvm::StringRef getPassName() const override { return "count loops"; }

  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.addRequired<llvm::LoopInfoWrapperPass>();
    usage.setPreservesAll();
  }

  bool runOnFunction(llvm::Function&) override {
    const llvm::LoopInfo& loops =
        getAnalysis<llvm::LoopInfoWrapperPass>().getLoopInfo();
    gate_->has_many_loops_ = loops.getLoopsInPreorder().size() > kManyLoops;
    return false;
  }

 private:
  StrengthReductionGate* const gate_;
};

char StrengthReductionGate::CountLoops::id = 0;

llvm::FunctionPass* StrengthReductionGate::CreatePass() {
  return new CountLoops(this);
}

}  // namespace ingot::codegen
