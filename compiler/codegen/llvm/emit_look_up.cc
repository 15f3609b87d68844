// Elements of tables of bytes, by an instruction that permutes them.
#include <cstdint>
#include <numeric>

#include "compiler/codegen/llvm/kernel_emitter.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace ingot::codegen {

using llvm::Value;
using tir::As;
using tir::Expr;

namespace {

constexpr int kTable = 256, kVector = 64;

// The u8 that `index` is; null where it is anything else.
Expr ByteOf(const Expr& index) {
  const auto* cast = As<tir::Cast>(index);
  if (cast == nullptr || !cast->dtype.is_integer()) return nullptr;
  const DataType t = cast->value->dtype;
  return t.is_uint() && t.bits == 8 ? cast->value : nullptr;
}

// The first `lanes` elements, or those and others up to so many.
Value* WithLanes(llvm::IRBuilder<>& b, Value* v, int lanes) {
  const auto has = static_cast<int>(
      llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements());
  llvm::SmallVector<int, kVector> order(lanes, llvm::PoisonMaskElem);
  std::iota(order.begin(), order.begin() + std::min(has, lanes), 0);
  return b.CreateShuffleVector(v, order);
}

}  // namespace

// AVX-512 VBMI chooses among 128 bytes by the low 7 bits of each index.
Value* KernelEmitter::EmitLookUp(const tir::BufferNode& table, Value* index) {
  llvm::Type* vector = llvm::FixedVectorType::get(b_.getInt8Ty(), kVector);
  index = WithLanes(b_, index, kVector);
  Value* halves[2];
  for (int half = 0; half < 2; ++half) {
    Value* parts[2];
    for (int part = 0; part < 2; ++part) {
      const int64_t offset = (2 * half + part) * kVector;
      parts[part] = b_.CreateAlignedLoad(
          vector, Address(table, b_.getInt64(offset), true), llvm::Align(1));
    }
    halves[half] =
        b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                           {parts[0], index, parts[1]});
  }
  Value* high = b_.CreateICmpSLT(index, llvm::Constant::getNullValue(vector));
  return b_.CreateSelect(high, halves[1], halves[0]);
}

Expr KernelEmitter::IndexOfLookUp(const tir::Load& e) const {
  const DataType t = e.dtype;
  const bool known = t.bits == 8 && !t.is_bool() && t.lanes > 1 &&
                     t.lanes <= kVector && e.indices.size() == 1 &&
                     m_.vector_bits == kVector * 8 && m_.Has("avx512vbmi") &&
                     tir::IsConstInt(e.buffer->shape[0], kTable);
  return known ? ByteOf(e.indices[0]) : nullptr;
}

Value* KernelEmitter::EmitLookUp(const tir::Load& e) {
  const Expr index = IndexOfLookUp(e);
  if (index == nullptr) return nullptr;
  return WithLanes(b_, EmitLookUp(*e.buffer, EmitExpr(index)), e.dtype.lanes);
}

}  // namespace ingot::codegen
