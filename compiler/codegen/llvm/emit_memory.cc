#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/alignment.h"
#include "compiler/codegen/llvm/device.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/tir/verifier.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace ingot::codegen {

using llvm::ConstantInt;
using llvm::Value;
using tir::As;
using tir::Expr;

namespace {

llvm::Align ElementAlign(DataType t) {
  return llvm::Align(t.element().bytes());
}

// Elements that are farther apart are loaded one by one.
constexpr int64_t kMostSpaced = 4;

llvm::SmallVector<int, 64> Reversed(int lanes) {
  llvm::SmallVector<int, 64> order(lanes);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

}  // namespace

// A device's buffers begin at multiples of kSharedAlignment or more; on a CPU
// unaligned vectors cost nothing.
llvm::Align KernelEmitter::AlignOf(const tir::BufferNode& buffer,
                                   const Access& access, DataType t) const {
  const bool known = IsGpu(m_) && buffer.scope != tir::Scope::kPart &&
                     tir::ToAffine(access.base).IsMultipleOf(t.lanes);
  const int64_t bytes = int64_t{t.lanes} * t.element().bytes();
  if (!known || !llvm::isPowerOf2_64(bytes)) return ElementAlign(t);
  return llvm::Align(std::min<int64_t>(bytes, kSharedAlignment));
}

Value* KernelEmitter::FromMemory(DataType t, Value* v) {
  if (!t.is_bool()) return v;
  return b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
}

Value* KernelEmitter::ToMemory(DataType t, Value* v) {
  if (!t.is_bool()) return v;
  return b_.CreateZExt(v, module_->MemoryType(t));
}

// Outside of its bounds an address may only be formed with `in_bounds` false.
Value* KernelEmitter::Address(const tir::BufferNode& buffer, Value* offset,
                              bool in_bounds) {
  auto it = buffers_.find(&buffer);
  if (it == buffers_.end()) {
    Fail(absl::StrCat("buffer ", buffer.name, " is not in scope"),
         buffer.dtype);
    return llvm::PoisonValue::get(b_.getPtrTy());
  }
  llvm::Type* element = module_->MemoryType(buffer.dtype);
  return in_bounds ? b_.CreateInBoundsGEP(element, it->second, offset)
                   : b_.CreateGEP(element, it->second, offset);
}

// Adds to the address what lanes have in common, so that vectors which read
// other memory at the same offsets share these.
std::vector<Value*> KernelEmitter::LaneAddresses(const tir::BufferNode& buffer,
                                                 const Access& access) {
  std::vector<Value*> addresses;
  Value* base = EmitExpr(access.base);
  if (access.is_ramp()) {
    Value* stride = EmitExpr(access.stride);
    for (int lane = 0; lane < access.lanes; ++lane) {
      Value* offset = b_.CreateNSWMul(stride, b_.getInt64(lane));
      addresses.push_back(Address(buffer, b_.CreateNSWAdd(base, offset), true));
    }
    return addresses;
  }
  llvm::Type* element = module_->MemoryType(buffer.dtype);
  Value* begin = Address(buffer, base, true);
  Value* offsets = EmitExpr(access.offsets);
  for (int lane = 0; lane < access.lanes; ++lane) {
    addresses.push_back(b_.CreateInBoundsGEP(
        element, begin, b_.CreateExtractElement(offsets, lane)));
  }
  return addresses;
}

Value* KernelEmitter::EmitLoad(const tir::Load& e) {
  const auto loaded = loaded_.find(&e);
  if (loaded != loaded_.end()) return loaded->second;
  if (Value* looked_up = EmitLookUp(e)) return looked_up;
  const DataType t = e.dtype;
  const Access access = AnalyzeAccess(*e.buffer, e.indices, &bounds_);
  const bool guarded =
      mask_ != nullptr && !InBounds(*e.buffer, e.indices, bounds_);
  if (guarded) return EmitMaskedLoad(e, access);

  llvm::Type* element = module_->MemoryType(t.element());
  const llvm::Align align = ElementAlign(t);
  auto load_scalar = [&](Value* offset) {
    return b_.CreateAlignedLoad(element, Address(*e.buffer, offset, true),
                                align);
  };
  if (access.scalar()) return FromMemory(t, load_scalar(EmitExpr(access.base)));
  if (access.uniform()) {
    return FromMemory(t, Splat(t.lanes, load_scalar(EmitExpr(access.base))));
  }
  llvm::Type* memory = module_->MemoryType(t);
  if (access.is_ramp() && (access.contiguous() || access.reversed())) {
    Value* offset = EmitExpr(access.base);
    if (access.reversed()) {
      offset = b_.CreateNSWSub(offset, b_.getInt64(t.lanes - 1));
    }
    Value* v = b_.CreateAlignedLoad(
        memory, Address(*e.buffer, offset, true),
        access.reversed() ? align : AlignOf(*e.buffer, access, t));
    if (access.reversed()) v = b_.CreateShuffleVector(v, Reversed(t.lanes));
    return FromMemory(t, v);
  }
  int64_t stride;
  if (access.is_ramp() && tir::AsConstInt(access.stride, &stride) &&
      stride >= 2 && stride <= kMostSpaced && t.lanes >= 4 && !IsGpu(m_)) {
    return EmitSpacedLoad(e, access, stride);
  }
  // Lane by lane. Hardware gathers are seldom faster, and where they are LLVM
  // finds them.
  const std::vector<Value*> addresses = LaneAddresses(*e.buffer, access);
  Value* result = llvm::PoisonValue::get(memory);
  for (int lane = 0; lane < t.lanes; ++lane) {
    Value* v = b_.CreateAlignedLoad(element, addresses[lane], align);
    result = b_.CreateInsertElement(result, v, lane);
  }
  return FromMemory(t, result);
}

// A load of which only the lanes in mask_ may touch memory.
Value* KernelEmitter::EmitMaskedLoad(const tir::Load& e, const Access& access) {
  const DataType t = e.dtype;
  const llvm::Align align = ElementAlign(t);
  llvm::Type* memory = module_->MemoryType(t);
  if (access.scalar() || access.uniform()) {
    llvm::Type* element = module_->MemoryType(t.element());
    Value* offset = EmitExpr(access.base);
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* some = NewBlock("some");
    llvm::BasicBlock* done = NewBlock("loaded");
    b_.CreateCondBr(b_.CreateOrReduce(mask_), some, done);
    b_.SetInsertPoint(some);
    Value* loaded =
        b_.CreateAlignedLoad(element, Address(*e.buffer, offset, false), align);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    llvm::PHINode* phi = b_.CreatePHI(element, 2);
    phi->addIncoming(loaded, some);
    phi->addIncoming(llvm::Constant::getNullValue(element), before);
    return FromMemory(t, Splat(t.lanes, phi));
  }
  Value* zero = llvm::Constant::getNullValue(memory);
  if (access.is_ramp() && (access.contiguous() || access.reversed())) {
    Value* offset = EmitExpr(access.base);
    Value* mask = mask_;
    if (access.reversed()) {
      offset = b_.CreateSub(offset, b_.getInt64(t.lanes - 1));
      mask = b_.CreateShuffleVector(mask, Reversed(t.lanes));
    }
    Value* v = b_.CreateMaskedLoad(memory, Address(*e.buffer, offset, false),
                                   align, mask, zero);
    if (access.reversed()) v = b_.CreateShuffleVector(v, Reversed(t.lanes));
    return FromMemory(t, v);
  }
  Value* offsets;
  if (access.is_ramp()) {
    llvm::SmallVector<llvm::Constant*, 16> lanes;
    for (int i = 0; i < t.lanes; ++i) lanes.push_back(b_.getInt64(i));
    offsets = b_.CreateMul(Splat(t.lanes, EmitExpr(access.stride)),
                           llvm::ConstantVector::get(lanes));
  } else {
    offsets = EmitExpr(access.offsets);
  }
  offsets = b_.CreateAdd(Splat(t.lanes, EmitExpr(access.base)), offsets);
  return FromMemory(
      t, b_.CreateMaskedGather(memory, Address(*e.buffer, offsets, false),
                               align, mask_, zero));
}

// Both sides, in blocks of their own, of which one runs.
Value* KernelEmitter::EmitBranches(Value* condition, const Expr& on_true,
                                   const Expr& on_false) {
  llvm::BasicBlock* then_block = NewBlock("then");
  llvm::BasicBlock* else_block = NewBlock("else");
  llvm::BasicBlock* done = NewBlock("selected");
  b_.CreateCondBr(condition, then_block, else_block);
  Value* values[2];
  llvm::BasicBlock* ends[2];
  const auto side = [&](int i, llvm::BasicBlock* block, const Expr& e) {
    b_.SetInsertPoint(block);
    Scoped([&] { values[i] = EmitExpr(e); });
    ends[i] = b_.GetInsertBlock();
    b_.CreateBr(done);
  };
  side(0, then_block, on_true);
  side(1, else_block, on_false);
  b_.SetInsertPoint(done);
  llvm::PHINode* phi = b_.CreatePHI(values[0]->getType(), 2);
  phi->addIncoming(values[0], ends[0]);
  phi->addIncoming(values[1], ends[1]);
  return phi;
}

Value* KernelEmitter::EmitSelect(const tir::Select& e) {
  const bool guard_true = MayFault(e.on_true, bounds_);
  const bool guard_false = MayFault(e.on_false, bounds_);
  const auto* broadcast = As<tir::Broadcast>(e.condition);
  const bool uniform = e.dtype.lanes == 1 || broadcast != nullptr;
  if (uniform && (guard_true || guard_false)) {
    Value* condition =
        EmitExpr(e.dtype.lanes > 1 ? broadcast->value : e.condition);
    return EmitBranches(condition, e.on_true, e.on_false);
  }
  Value* condition = EmitExpr(e.condition);
  // Lane by lane: what may fault runs under a mask.
  const auto side = [&](const Expr& value, bool guard, bool negate) {
    if (!guard) return EmitExpr(value);
    Value* outer = mask_;
    Value* lanes = negate ? b_.CreateNot(condition) : condition;
    mask_ = outer == nullptr ? lanes : b_.CreateAnd(outer, lanes);
    Value* result = nullptr;
    Scoped([&] { result = EmitExpr(value); });
    mask_ = outer;
    return result;
  };
  Value* on_true = side(e.on_true, guard_true, false);
  Value* on_false = side(e.on_false, guard_false, true);
  return b_.CreateSelect(condition, on_true, on_false);
}

void KernelEmitter::EmitStore(const tir::Store& s) {
  if (copies_ahead_ && EmitAsyncCopy(s)) return;
  const DataType t = s.value->dtype;
  const Access access = AnalyzeAccess(*s.buffer, s.indices, &bounds_);
  Value* value = ToMemory(t, EmitExpr(s.value));
  const llvm::Align align = ElementAlign(t);
  if (access.scalar()) {
    b_.CreateAlignedStore(
        value, Address(*s.buffer, EmitExpr(access.base), true), align);
    return;
  }
  if (access.contiguous() || access.reversed()) {
    Value* offset = EmitExpr(access.base);
    if (access.reversed()) {
      offset = b_.CreateNSWSub(offset, b_.getInt64(t.lanes - 1));
      value = b_.CreateShuffleVector(value, Reversed(t.lanes));
    }
    b_.CreateAlignedStore(
        value, Address(*s.buffer, offset, true),
        access.reversed() ? align : AlignOf(*s.buffer, access, t));
    return;
  }
  const std::vector<Value*> addresses = LaneAddresses(*s.buffer, access);
  for (int lane = 0; lane < t.lanes; ++lane) {
    b_.CreateAlignedStore(b_.CreateExtractElement(value, lane), addresses[lane],
                          align);
  }
}

void KernelEmitter::EmitPrefetch(const tir::Prefetch& s) {
  const Access access = AnalyzeAccess(*s.buffer, s.indices, &bounds_);
  Value* element = Address(*s.buffer, EmitExpr(access.base), false);
  for (int64_t i = 0; i < s.bytes; i += kCacheLineBytes) {
    Value* line = b_.CreatePtrAdd(element, b_.getInt64(s.ahead + i));
    // The numbers say: it will be read, all caches keep it, it is data.
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {line->getType()},
                       {line, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
  }
}

void KernelEmitter::EmitAllocate(const tir::Allocate& s) {
  const tir::BufferNode& buffer = *s.buffer;
  int64_t elements = 1;
  bool fits = tir::IsArray(buffer.scope);
  for (const Expr& dim : buffer.shape) {
    int64_t n = 0;
    fits = fits && tir::AsConstInt(dim, &n) && n >= 0 &&
           !__builtin_mul_overflow(elements, n, &elements) &&
           elements <= tir::kMaxStackBytes;
  }
  const int64_t bytes = fits ? elements * buffer.dtype.bytes() : 0;
  if (!fits || bytes > tir::kMaxStackBytes) {
    Fail(absl::StrCat("buffer ", buffer.name,
                      " is allocated here, but is no stack buffer of a "
                      "constant size of at most ",
                      tir::kMaxStackBytes, " bytes"),
         buffer.dtype);
    return;
  }
  if (buffer.scope == tir::Scope::kShared && group_.has_value()) {
    const int64_t slots = SlotsOf(*group_->pipelines, buffer);
    const int64_t all = slots * SlotBytes(buffer) / buffer.dtype.bytes();
    BindBuffer(&buffer,
               SharedArray(buffer.name, module_->MemoryType(buffer.dtype),
                           slots == 1 ? elements : all,
                           AlignmentOf(*group_->pipelines, buffer)));
    return EmitStmt(s.body);
  }
  // In the entry block, so that it becomes part of the frame, or registers.
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  llvm::AllocaInst* memory = at_entry.CreateAlloca(
      llvm::ArrayType::get(module_->MemoryType(buffer.dtype), elements),
      nullptr, buffer.name);
  memory->setAlignment(llvm::Align(kAlignment));
  BindBuffer(&buffer, memory);
  b_.CreateLifetimeStart(memory, b_.getInt64(bytes));
  EmitStmt(s.body);
  b_.CreateLifetimeEnd(memory, b_.getInt64(bytes));
  buffers_.erase(&buffer);
}

}  // namespace ingot::codegen
