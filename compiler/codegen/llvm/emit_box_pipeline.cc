// Loops that let the device copy boxes of tensors for later iterations while
// the units of four warps multiply those of one: NVIDIA's Hopper (PTX ISA,
// cp.async.bulk.tensor and mbarrier).
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/codegen/device_pipelines.h"
#include "compiler/codegen/llvm/inline_asm.h"
#include "compiler/codegen/llvm/kernel_emitter.h"

namespace ingot::codegen {
namespace {

using llvm::Value;
using tir::As;

// Copies a box from the place of its first element, whose last index comes
// first.
void CopyBox(llvm::IRBuilder<>& b, Value* to, Value* map,
             const std::vector<Value*>& place, Value* barrier) {
  std::vector<std::string> names;
  std::string constraints = "l,l,l";
  std::vector<Value*> arguments = {to, map, barrier};
  for (Value* index : place) {
    names.push_back(absl::StrCat("$", arguments.size()));
    constraints += ",r";
    arguments.push_back(b.CreateTrunc(index, b.getInt32Ty()));
  }
  EmitAsm(b, b.getVoidTy(), arguments,
          absl::StrCat("cp.async.bulk.tensor.", place.size(),
                       "d.shared::cluster.global.mbarrier::complete_tx::bytes "
                       "[$0], [$1, {",
                       absl::StrJoin(names, ", "), "}], [$2];"),
          constraints);
}

}  // namespace

std::optional<WarpNest> KernelEmitter::GroupNestOf(const tir::For& loop,
                                                   const Pipeline& pipeline) {
  const auto* threads =
      pipeline.rest.size() == 1 ? As<tir::For>(pipeline.rest[0]) : nullptr;
  if (!pipeline.IsOfBoxes() || threads == nullptr ||
      threads->for_kind != tir::ForKind::kThread ||
      TensorizedIn(*threads) == nullptr) {
    return std::nullopt;
  }
  bounds_.SetLoop(loop.var.get(), loop.min, loop.extent);
  for (const tir::LetStmt* let : pipeline.lets) {
    bounds_.SetValue(let->var.get(), let->value);
  }
  absl::StatusOr<WarpNest> nest = ReadWarpNest(*threads, bounds_);
  LeaveIteration(loop, pipeline);
  if (!nest.ok() || !MultipliesInGroups(*nest)) return std::nullopt;
  return *std::move(nest);
}

void KernelEmitter::EmitFirstItem(Value* condition,
                                  absl::FunctionRef<void()> emit) {
  Value* first = b_.CreateICmpEQ(group_->item, b_.getInt64(0));
  if (condition != nullptr) first = b_.CreateAnd(first, condition);
  llvm::BasicBlock* const one = NewBlock("first");
  llvm::BasicBlock* const all = NewBlock("all");
  b_.CreateCondBr(first, one, all);
  b_.SetInsertPoint(one);
  Scoped(emit);
  b_.CreateBr(all);
  b_.SetInsertPoint(all);
}

void KernelEmitter::EmitBoxCopies(const tir::For& loop,
                                  const PipelineArrays& arrays, Value* index,
                                  Value* slot, Value* barrier) {
  UseSlot(arrays, slot);
  EnterIteration(loop, arrays.pipeline, index);
  int64_t bytes = 0;
  for (const BoxCopy& copy : arrays.pipeline.boxes) bytes += copy.Bytes();
  EmitAsm(b_, b_.getVoidTy(),
          {barrier, b_.getInt32(static_cast<uint32_t>(bytes))},
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "l,r");
  for (const BoxCopy& copy : arrays.pipeline.boxes) {
    for (const BoxCopy::Box& box : copy.boxes) {
      std::vector<Value*> place;
      for (size_t d = box.from.size(); d-- > 0;) {
        place.push_back(EmitExpr(box.from[d]));
      }
      CopyBox(b_, Address(*copy.to, b_.getInt64(box.to), true),
              group_->maps[copy.number], place, barrier);
    }
  }
  LeaveIteration(loop, arrays.pipeline);
}

void KernelEmitter::EmitBoxWait(Value* barrier, Value* phase) {
  llvm::BasicBlock* const wait = NewBlock("wait");
  llvm::BasicBlock* const come = NewBlock("come");
  b_.CreateBr(wait);
  b_.SetInsertPoint(wait);
  Value* const done =
      EmitAsm(b_, b_.getInt32Ty(), {barrier, phase},
              "{\n\t.reg .pred come;\n\t"
              "mbarrier.try_wait.parity.shared::cta.b64 come, [$1], $2;\n\t"
              "selp.b32 $0, 1, 0, come;\n\t}",
              "=r,l,r");
  b_.CreateCondBr(b_.CreateICmpNE(done, b_.getInt32(0)), come, wait);
  b_.SetInsertPoint(come);
}

void KernelEmitter::EmitBoxPipeline(const tir::For& loop,
                                    const Pipeline& pipeline,
                                    const WarpNest& nest) {
  const int64_t slots = pipeline.slots, ahead = slots - 1;
  const PipelineArrays arrays = ArraysOf(pipeline);
  Value* const barriers =
      SharedArray("come", b_.getInt64Ty(), slots, kBoxBarrierBytes);
  const auto barrier_of = [&](Value* slot) {
    return b_.CreateInBoundsGEP(b_.getInt64Ty(), barriers, slot);
  };
  const std::pair<Value*, Value*> range = RangeOf(loop);
  Value *const min = range.first, *const end = range.second;
  EmitFirstItem(nullptr, [&] {
    for (int64_t i = 0; i < slots; ++i) {
      EmitAsm(b_, b_.getVoidTy(), {barrier_of(b_.getInt64(i))},
              "mbarrier.init.shared::cta.b64 [$0], 1;", "l");
    }
    EmitAsm(b_, b_.getVoidTy(), {}, "fence.mbarrier_init.release.cluster;", "");
    for (int64_t i = 0; i < ahead; ++i) {
      EmitBoxCopies(loop, arrays, b_.CreateNSWAdd(min, b_.getInt64(i)),
                    b_.getInt64(i), barrier_of(b_.getInt64(i)));
    }
  });
  EmitBarrier();
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  llvm::BasicBlock* const body = NewBlock("step");
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  const auto phi = [&](Value* first) {
    llvm::PHINode* const node = b_.CreatePHI(first->getType(), 2);
    node->addIncoming(first, before);
    return node;
  };
  llvm::PHINode *const index = phi(min), *const slot = phi(b_.getInt64(0)),
                       *const phase = phi(b_.getInt32(0));
  EmitBoxWait(barrier_of(slot), phase);
  UseSlot(arrays, slot);
  EmitStep(loop, pipeline, index, /*multiplies_on=*/true);
  // The iteration before has been computed by all: its slot is free.
  EmitBarrier();
  Value* const later = b_.CreateNSWAdd(index, b_.getInt64(ahead));
  EmitFirstItem(b_.CreateICmpSLT(later, end), [&] {
    Value* const free = b_.CreateSelect(b_.CreateICmpEQ(slot, b_.getInt64(0)),
                                        b_.getInt64(slots - 1),
                                        b_.CreateNSWSub(slot, b_.getInt64(1)));
    EmitBoxCopies(loop, arrays, later, free, barrier_of(free));
  });
  Value* const next = b_.CreateNSWAdd(index, b_.getInt64(1));
  Value* const next_slot = b_.CreateNSWAdd(slot, b_.getInt64(1));
  Value* const is_around = b_.CreateICmpEQ(next_slot, b_.getInt64(slots));
  llvm::BasicBlock* const last = b_.GetInsertBlock();
  index->addIncoming(next, last);
  slot->addIncoming(b_.CreateSelect(is_around, b_.getInt64(0), next_slot),
                    last);
  phase->addIncoming(
      b_.CreateSelect(is_around, b_.CreateXor(phase, b_.getInt32(1)), phase),
      last);
  llvm::BasicBlock* const done = NewBlock("computed");
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), body, done);
  b_.SetInsertPoint(done);
  EmitGroupWait(nest);
  EmitBarrier();
}

}  // namespace ingot::codegen
