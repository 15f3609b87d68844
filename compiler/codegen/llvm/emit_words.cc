// Words whose bytes come from neighbouring vectors, such as the taps of a row
// that a depthwise convolution multiplies: one load, and a shuffle.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "compiler/codegen/llvm/kernel_emitter.h"
#include "llvm/IR/Constants.h"

namespace ingot::codegen {

using llvm::Value;
using tir::As;
using tir::BinaryOp;
using tir::Expr;

namespace {

constexpr int kParts = 4;  // of a word

}  // namespace

bool KernelEmitter::FindBytes(const Expr& e, BytesOfWord* bytes) {
  const auto* binary = As<tir::Binary>(e);
  if (binary != nullptr && binary->op == BinaryOp::kBitOr) {
    return FindBytes(binary->a, bytes) && FindBytes(binary->b, bytes);
  }
  int64_t shift = 0;
  Expr value = e;
  if (binary != nullptr && binary->op == BinaryOp::kShl) {
    const auto* splat = As<tir::Broadcast>(binary->b);
    if (!tir::AsConstInt(splat != nullptr ? splat->value : binary->b, &shift)) {
      return false;
    }
    value = binary->a;
  }
  const auto* wide = As<tir::Cast>(value);
  if (wide == nullptr || wide->value->dtype.element() != DataType::UInt(8) ||
      shift < 0 || shift % 8 != 0 || shift / 8 >= kParts) {
    return false;
  }
  Expr byte = wide->value;
  // Nothing is read of padding, where the code knows it.
  while (const auto* select = As<tir::Select>(byte)) {
    const auto* all = As<tir::Broadcast>(select->condition);
    const auto* holds =
        all == nullptr
            ? nullptr
            : llvm::dyn_cast<llvm::ConstantInt>(EmitExpr(all->value));
    if (holds == nullptr) return false;
    byte = holds->isOne() ? select->on_true : select->on_false;
  }
  if (const auto* splat = As<tir::Broadcast>(byte)) {
    return tir::IsConstInt(splat->value, 0);
  }
  const auto* load = As<tir::Load>(byte);
  const tir::Load*& found = (*bytes)[shift / 8];
  if (load == nullptr || found != nullptr) return false;
  found = load;
  return true;
}

Value* KernelEmitter::EmitNeighbours(const tir::BufferNode& buffer,
                                     const Expr& first, int lanes,
                                     int vectors) {
  llvm::Type* word = b_.getInt32Ty();
  const int words = lanes / kParts;  // of each vector
  llvm::Type* all = llvm::FixedVectorType::get(word, lanes);
  Value* address = Address(buffer, EmitExpr(first), true);
  const llvm::Align align(1);
  if (vectors == kParts) return b_.CreateAlignedLoad(all, address, align);
  if (m_.Has("avx2")) {
    llvm::SmallVector<llvm::Constant*, 16> mask;
    for (int i = 0; i < lanes; ++i) {
      mask.push_back(b_.getInt1(i < vectors * words));
    }
    return b_.CreateMaskedLoad(all, address, align,
                               llvm::ConstantVector::get(mask),
                               llvm::Constant::getNullValue(all));
  }
  Value* result = llvm::Constant::getNullValue(all);
  for (int k = 0; k < vectors; ++k) {
    Value* part = b_.CreateAlignedLoad(
        llvm::FixedVectorType::get(word, words),
        b_.CreateConstInBoundsGEP1_64(word, address, k * words), align);
    llvm::SmallVector<int, 16> order(lanes, llvm::PoisonMaskElem);
    std::iota(order.begin(), order.begin() + words, 0);
    part = b_.CreateShuffleVector(part, order);
    for (int i = 0; i < lanes; ++i) {
      order[i] = i / words == k ? lanes + i % words : i;
    }
    result = b_.CreateShuffleVector(result, part, order);
  }
  return result;
}

Value* KernelEmitter::EmitWordOfNeighbours(const Expr& e) {
  const int lanes = e->dtype.lanes;
  BytesOfWord parts = {};
  // Shuffles are of whole vectors, of which each has four elements or more.
  if (lanes < kParts || lanes % kParts != 0 || !FindBytes(e, &parts)) {
    return nullptr;
  }
  const tir::BufferNode* buffer = nullptr;
  Expr base;
  std::array<int64_t, kParts> places = {};  // in vectors after `base`
  for (int j = 0; j < kParts; ++j) {
    if (parts[j] == nullptr) continue;
    const tir::Load& load = *parts[j];
    const Access access = AnalyzeAccess(*load.buffer, load.indices, &bounds_);
    if (!access.is_ramp() || !access.contiguous() ||
        (mask_ != nullptr && !InBounds(*load.buffer, load.indices, bounds_))) {
      return nullptr;
    }
    if (buffer == nullptr) {
      buffer = load.buffer.get();
      base = access.base;
    }
    int64_t elements;
    if (load.buffer.get() != buffer ||
        !tir::AsConstInt(tir::Simplify(access.base - base), &elements) ||
        elements < 0 || elements % lanes != 0 || elements / lanes >= kParts) {
      return nullptr;
    }
    places[j] = elements / lanes;
  }
  llvm::Type* type = module_->ValueType(e->dtype);
  if (buffer == nullptr) return llvm::Constant::getNullValue(type);
  const auto vectors =
      static_cast<int>(*std::max_element(places.begin(), places.end()) + 1);
  Value* loaded = EmitNeighbours(*buffer, base, lanes, vectors);
  // First the same four lanes of all vectors side by side, then their bytes,
  // the other operand being zeros.
  const int words = lanes / kParts;
  llvm::SmallVector<int, 16> by_lane(lanes);
  llvm::SmallVector<int, 64> by_byte(lanes * kParts);
  for (int i = 0; i < lanes; ++i) by_lane[i] = i % kParts * words + i / kParts;
  for (int i = 0; i < lanes * kParts; ++i) {
    const int lane = i / kParts % kParts, part = i % kParts, group = i / 16;
    by_byte[i] =
        parts[part] == nullptr
            ? lanes * kParts + i
            : group * 16 + static_cast<int>(places[part]) * kParts + lane;
  }
  llvm::Type* bytes =
      llvm::FixedVectorType::get(b_.getInt8Ty(), lanes * kParts);
  Value* side_by_side =
      b_.CreateBitCast(b_.CreateShuffleVector(loaded, by_lane), bytes);
  return b_.CreateBitCast(
      b_.CreateShuffleVector(side_by_side, llvm::Constant::getNullValue(bytes),
                             by_byte),
      type);
}

}  // namespace ingot::codegen
