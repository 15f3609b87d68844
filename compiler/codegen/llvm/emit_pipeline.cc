// Loops that copy what later iterations need while they compute one, by the
// copies that NVIDIA's GPUs make on their own (cp.async, from sm_80 on).
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/codegen/device_pipelines.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/simplify.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ingot::codegen {
namespace {

using llvm::Value;
using tir::As;

// A copy of elements from one memory to another, under a condition or not;
// where it does not hold, zeros are stored.
struct Copy {
  const tir::Load* from = nullptr;
  tir::Expr condition;
};

// The value of every lane, where all have the same.
tir::Expr OneLane(const tir::Expr& e) {
  const auto* broadcast = As<tir::Broadcast>(e);
  return broadcast == nullptr ? e : broadcast->value;
}

bool IsZero(const tir::Expr& e) {
  const auto* value = As<tir::FloatImm>(e);
  return value != nullptr ? value->value == 0 && !std::signbit(value->value)
                          : tir::IsConstInt(e, 0);
}

Copy CopyIn(const tir::Expr& value) {
  if (const auto* load = As<tir::Load>(value)) return {load, nullptr};
  const auto* select = As<tir::Select>(value);
  if (select == nullptr || !IsZero(OneLane(select->on_false))) return {};
  const tir::Expr condition = OneLane(select->condition);
  if (condition->dtype.lanes != 1) return {};
  Copy copy = CopyIn(select->on_true);
  copy.condition = copy.condition == nullptr
                       ? condition
                       : tir::And(condition, copy.condition);
  return copy;
}

// The instructions that copy so many bytes; 0 where there are none.
struct Instructions {
  llvm::Intrinsic::ID all = 0, some = 0;
};

Instructions InstructionsFor(int64_t bytes) {
  using namespace llvm;  // NOLINT: names as long as these
  switch (bytes) {
    case 4:
      return {Intrinsic::nvvm_cp_async_ca_shared_global_4,
              Intrinsic::nvvm_cp_async_ca_shared_global_4_s};
    case 8:
      return {Intrinsic::nvvm_cp_async_ca_shared_global_8,
              Intrinsic::nvvm_cp_async_ca_shared_global_8_s};
    case 16:
      return {Intrinsic::nvvm_cp_async_cg_shared_global_16,
              Intrinsic::nvvm_cp_async_cg_shared_global_16_s};
    default:
      return {};
  }
}

}  // namespace

bool KernelEmitter::EmitAsyncCopy(const tir::Store& s) {
  const Copy copy = CopyIn(s.value);
  if (copy.from == nullptr || mask_ != nullptr || s.value->dtype.is_bool()) {
    return false;
  }
  const Access to = AnalyzeAccess(*s.buffer, s.indices, &bounds_);
  const Access from =
      AnalyzeAccess(*copy.from->buffer, copy.from->indices, &bounds_);
  if (!to.scalar() && !(to.is_ramp() && to.contiguous())) return false;
  if (!from.scalar() && !(from.is_ramp() && from.contiguous())) return false;
  const int lanes = s.value->dtype.lanes;
  const int64_t bytes = s.value->dtype.element().bytes();
  const bool aligned = tir::ToAffine(to.base).IsMultipleOf(lanes) &&
                       tir::ToAffine(from.base).IsMultipleOf(lanes);
  // Elements one by one where they do not begin at a multiple of all.
  const int at_once = aligned && lanes * bytes <= kSharedAlignment ? lanes : 1;
  const Instructions instructions = InstructionsFor(at_once * bytes);
  if (instructions.all == 0) return false;
  Value* const condition =
      copy.condition == nullptr ? nullptr : EmitExpr(copy.condition);
  Value* const to_base = EmitExpr(to.base);
  Value* const from_base = EmitExpr(from.base);
  for (int lane = 0; lane < lanes; lane += at_once) {
    Value* const target =
        Address(*s.buffer, b_.CreateNSWAdd(to_base, b_.getInt64(lane)), true);
    Value* const source =
        Address(*copy.from->buffer,
                b_.CreateNSWAdd(from_base, b_.getInt64(lane)), !condition);
    if (condition == nullptr) {
      b_.CreateIntrinsic(instructions.all, {}, {target, source});
      continue;
    }
    Value* const count = b_.CreateSelect(
        condition, b_.getInt32(at_once * bytes), b_.getInt32(0));
    b_.CreateIntrinsic(instructions.some, {}, {target, source, count});
  }
  return true;
}

void KernelEmitter::EnterIteration(const tir::For& loop,
                                   const Pipeline& pipeline, Value* index) {
  BindVar(loop.var.get(), index);
  bounds_.SetLoop(loop.var.get(), loop.min, loop.extent);
  for (const tir::LetStmt* let : pipeline.lets) {
    cache_.clear();  // it may know the value of another iteration
    BindVar(let->var.get(), EmitExpr(let->value));
    if (let->var->dtype == DataType::Int(64)) {
      bounds_.SetValue(let->var.get(), let->value);
    }
  }
  cache_.clear();
}

void KernelEmitter::LeaveIteration(const tir::For& loop,
                                   const Pipeline& pipeline) {
  for (const tir::LetStmt* let : pipeline.lets) bounds_.Forget(let->var.get());
  bounds_.Forget(loop.var.get());
}

void KernelEmitter::EmitCopies(const tir::For& loop,
                               const PipelineArrays& arrays, Value* index,
                               Value* slot) {
  UseSlot(arrays, slot);
  EnterIteration(loop, arrays.pipeline, index);
  copies_ahead_ = true;
  // Nothing waits for these: each writes buffers of its own iteration.
  for (const tir::For* copy : arrays.pipeline.copies) EmitThreads(*copy, false);
  copies_ahead_ = false;
  LeaveIteration(loop, arrays.pipeline);
}

PipelineArrays KernelEmitter::ArraysOf(const Pipeline& pipeline) {
  PipelineArrays arrays{pipeline, {}};
  for (const tir::BufferNode* buffer : pipeline.buffers) {
    arrays.whole.push_back(Address(*buffer, b_.getInt64(0), true));
  }
  return arrays;
}

std::pair<Value*, Value*> KernelEmitter::RangeOf(const tir::For& loop) {
  cache_.clear();
  int64_t extent = 0;
  tir::AsConstInt(loop.extent, &extent);
  Value* const min = EmitExpr(loop.min);
  return {min, b_.CreateNSWAdd(min, b_.getInt64(extent))};
}

void KernelEmitter::UseSlot(const PipelineArrays& arrays, Value* slot) {
  for (size_t i = 0; i < arrays.whole.size(); ++i) {
    const tir::BufferNode& buffer = *arrays.pipeline.buffers[i];
    Value* const offset = b_.CreateNSWMul(
        slot, b_.getInt64(SlotBytes(buffer) / buffer.dtype.bytes()));
    BindBuffer(&buffer, b_.CreateInBoundsGEP(module_->MemoryType(buffer.dtype),
                                             arrays.whole[i], offset));
  }
}

void KernelEmitter::EmitStep(const tir::For& loop, const Pipeline& pipeline,
                             Value* index, bool multiplies_on) {
  EnterIteration(loop, pipeline, index);
  multiplies_on_ = multiplies_on;
  for (const tir::Stmt& s : pipeline.rest) {
    const auto* threads = As<tir::For>(s);
    const bool is_last = &s == &pipeline.rest.back();
    if (is_last && threads != nullptr &&
        threads->for_kind == tir::ForKind::kThread) {
      EmitThreads(*threads, false);  // the next iteration waits
    } else {
      EmitStmt(s);
    }
  }
  if (multiplies_on) EmitGroupWaitForOthers();
  multiplies_on_ = false;
  LeaveIteration(loop, pipeline);
}

void KernelEmitter::EmitPipeline(const tir::For& loop,
                                 const Pipeline& pipeline) {
  if (const std::optional<WarpNest> nest = GroupNestOf(loop, pipeline)) {
    EmitBoxPipeline(loop, pipeline, *nest);
    return;
  }
  // The slot that is filled next is that of the iteration before.
  const int64_t slots = pipeline.slots, ahead = slots - 1;
  const PipelineArrays arrays = ArraysOf(pipeline);
  const std::pair<Value*, Value*> range = RangeOf(loop);
  Value *const min = range.first, *const end = range.second;
  const auto commit = [this] {
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {}, {});
  };
  // Other threads may still read the slots of an earlier run of the loop.
  EmitBarrier();
  for (int64_t i = 0; i < ahead; ++i) {
    EmitCopies(loop, arrays, b_.CreateNSWAdd(min, b_.getInt64(i)),
               b_.getInt64(i));
    commit();
  }
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  llvm::BasicBlock* const body = NewBlock("step");
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  llvm::PHINode* const index = b_.CreatePHI(b_.getInt64Ty(), 2);
  llvm::PHINode* const slot = b_.CreatePHI(b_.getInt64Ty(), 2);
  index->addIncoming(min, before);
  slot->addIncoming(b_.getInt64(0), before);
  // This iteration's data have come, for all, and the iteration whose slot is
  // filled next has been computed by all.
  b_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {},
                     {b_.getInt32(static_cast<uint32_t>(ahead - 1))});
  EmitBarrier();
  Value* const later = b_.CreateNSWAdd(index, b_.getInt64(ahead));
  llvm::BasicBlock* const more = NewBlock("ahead");
  llvm::BasicBlock* const compute = NewBlock("compute");
  b_.CreateCondBr(b_.CreateICmpSLT(later, end), more, compute);
  b_.SetInsertPoint(more);
  EmitCopies(
      loop, arrays, later,
      b_.CreateSelect(b_.CreateICmpEQ(slot, b_.getInt64(0)), b_.getInt64(ahead),
                      b_.CreateNSWSub(slot, b_.getInt64(1))));
  b_.CreateBr(compute);
  b_.SetInsertPoint(compute);
  commit();
  UseSlot(arrays, slot);
  EmitStep(loop, pipeline, index, /*multiplies_on=*/false);
  Value* const next = b_.CreateNSWAdd(index, b_.getInt64(1));
  Value* const next_slot = b_.CreateNSWAdd(slot, b_.getInt64(1));
  index->addIncoming(next, b_.GetInsertBlock());
  slot->addIncoming(
      b_.CreateSelect(b_.CreateICmpEQ(next_slot, b_.getInt64(slots)),
                      b_.getInt64(0), next_slot),
      b_.GetInsertBlock());
  llvm::BasicBlock* const done = NewBlock("computed");
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), body, done);
  b_.SetInsertPoint(done);
  EmitBarrier();
}

}  // namespace ingot::codegen
