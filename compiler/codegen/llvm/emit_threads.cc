// Thread loops of a device: each work item of a group runs one iteration.
#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/device.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/warp_nest.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ingot::codegen {
void KernelEmitter::EmitThreads(const tir::For& loop, bool may_wait) {
  int64_t extent = 0;
  if (!tir::AsConstInt(loop.extent, &extent)) {
    Fail("a thread loop has no constant extent", DataType::Int(64));
    return;
  }
  llvm::BasicBlock* done = nullptr;
  if (extent < group_->items) {
    llvm::BasicBlock* const some = NewBlock("threads");
    done = NewBlock("others");
    b_.CreateCondBr(b_.CreateICmpSLT(group_->item, b_.getInt64(extent)), some,
                    done);
    b_.SetInsertPoint(some);
  }
  // One thread's are copies.
  if (IsAmpereOrNewer(m_) && extent > 1 && TensorizedIn(loop) != nullptr) {
    EmitWarpTiles(loop);
  } else {
    EmitIteration(loop, group_->item);
  }
  if (done != nullptr) {
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
  if (may_wait && group_->barriers->count(&loop) != 0) EmitBarrier();
}

void KernelEmitter::EmitBarrier() {
  if (m_.triple == kNvidiaTriple) {
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
    return;
  }
  // The instruction alone does not order memory.
  const llvm::SyncScope::ID group =
      b_.getContext().getOrInsertSyncScopeID("workgroup");
  b_.CreateFence(llvm::AtomicOrdering::Release, group);
  b_.CreateIntrinsic(llvm::Intrinsic::amdgcn_s_barrier, {}, {});
  b_.CreateFence(llvm::AtomicOrdering::Acquire, group);
}

llvm::Value* KernelEmitter::SharedArray(const std::string& name,
                                        llvm::Type* element, int64_t elements,
                                        int64_t alignment) {
  if (group_->shared != nullptr) {
    group_->used = RoundUp(group_->used, alignment);
    llvm::Value* const place = b_.CreateInBoundsGEP(
        b_.getInt8Ty(), group_->shared, b_.getInt64(group_->used));
    const auto bits = static_cast<int64_t>(element->getPrimitiveSizeInBits());
    group_->used =
        RoundUp(group_->used + elements * bits / 8, kSharedAlignment);
    return place;
  }
  llvm::Type* const type =
      llvm::ArrayType::get(element, static_cast<uint64_t>(elements));
  auto* const array = new llvm::GlobalVariable(
      module_->module(), type, /*isConstant=*/false,
      llvm::GlobalValue::InternalLinkage, llvm::PoisonValue::get(type),
      absl::StrCat(function_->getName().str(), ".", name), nullptr,
      llvm::GlobalValue::NotThreadLocal, kSharedMemory);
  array->setAlignment(llvm::Align(static_cast<uint64_t>(alignment)));
  return array;
}

}  // namespace ingot::codegen
