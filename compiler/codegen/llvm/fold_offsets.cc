#include "compiler/codegen/llvm/fold_offsets.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Pass.h"

namespace ingot::codegen {
namespace {

bool IsAccessedIn(const llvm::BasicBlock& block, const llvm::Value* address) {
  return llvm::any_of(address->users(), [&](const llvm::User* user) {
    const auto* access = llvm::dyn_cast<llvm::Instruction>(user);
    return access != nullptr && access->getParent() == &block &&
           llvm::getLoadStorePointerOperand(access) == address;
  });
}

class FoldOffsets final : public llvm::FunctionPass {
 public:
  static char id;
  FoldOffsets() : FunctionPass(id) {}

  llvm::StringRef getPassName() const override { return "fold offsets"; }

  bool runOnFunction(llvm::Function& function) override {
    bool changed = false;
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
        if (address == nullptr || address->isInBounds() ||
            !IsForward(*address) || !IsAccessedIn(block, address) ||
            !IsAccessedIn(block, address->getPointerOperand())) {
          continue;
        }
        address->setIsInBounds();
        changed = true;
      }
    }
    return changed;
  }

 private:
  static bool IsForward(const llvm::GetElementPtrInst& address) {
    llvm::APInt offset(
        address.getDataLayout().getIndexTypeSizeInBits(address.getType()), 0);
    return address.accumulateConstantOffset(address.getDataLayout(), offset) &&
           offset.isNonNegative();
  }
};

char FoldOffsets::id = 0;

}  // namespace

llvm::FunctionPass* CreateFoldOffsetsPass() { return new FoldOffsets; }

}  // namespace ingot::codegen
