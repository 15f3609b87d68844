// Rounded bytes of neighbouring vectors, as one vector: words that are packed
// saturate, so that they need no limits of their own, and an instruction that
// looks bytes up in a table takes no longer for 64 of them than for 16.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/codegen/llvm/float_math.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/side_by_side.h"
#include "compiler/tir/arith/affine.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace ingot::codegen {
namespace {

using llvm::Value;
using tir::Store;

// A register has so many words, or bytes.
constexpr int kWords = 16, kBytes = 64;
constexpr size_t kMost = kBytes / kWords;

llvm::SmallVector<int, kBytes> Counting(int count) {
  llvm::SmallVector<int, kBytes> order(count);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// The bytes of numbers, each with `zero` added: limits where they are none.
Value* PackedBytes(llvm::IRBuilder<>& b, std::vector<Value*> numbers, int zero,
                   bool is_signed) {
  llvm::Type* const words = llvm::FixedVectorType::get(b.getInt16Ty(), 32);
  numbers.resize(kMost, llvm::PoisonValue::get(numbers[0]->getType()));
  Value* pairs[kMost / 2];
  for (size_t i = 0; i < kMost / 2; ++i) {
    pairs[i] = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_packssdw_512, {},
                                 {numbers[2 * i], numbers[2 * i + 1]});
    if (zero != 0) {
      pairs[i] = b.CreateBinaryIntrinsic(
          llvm::Intrinsic::sadd_sat, pairs[i],
          llvm::ConstantInt::get(words, zero, /*IsSigned=*/true));
    }
  }
  Value* const bytes =
      b.CreateIntrinsic(is_signed ? llvm::Intrinsic::x86_avx512_packsswb_512
                                  : llvm::Intrinsic::x86_avx512_packuswb_512,
                        {}, {pairs[0], pairs[1]});
  // Each quarter of the register has four bytes of each of the vectors.
  llvm::SmallVector<int, kWords> order;
  for (int i = 0; i < kWords; ++i) order.push_back(i % 4 * 4 + i / 4);
  Value* const quarters = b.CreateBitCast(bytes, numbers[0]->getType());
  return b.CreateBitCast(b.CreateShuffleVector(quarters, order),
                         bytes->getType());
}

}  // namespace

std::optional<KernelEmitter::RoundedStore> KernelEmitter::FindRoundedStore(
    const Store& s) {
  RoundedStore found;
  tir::Expr value = s.value;
  while (const auto* load = tir::As<tir::Load>(value)) {
    value = IndexOfLookUp(*load);
    if (value == nullptr) return std::nullopt;
    found.tables.push_back(load->buffer.get());
  }
  const auto* cast = tir::As<tir::Cast>(value);
  if (cast == nullptr || cast->dtype.lanes != kWords) return std::nullopt;
  const std::optional<Quantization> q = quantizations_.Find(*cast);
  if (!q) return std::nullopt;
  found.rounded = *q;
  return found;
}

std::vector<KernelEmitter::RoundedStore> KernelEmitter::FindByteGroup(
    absl::Span<const Store* const> stores) {
  std::vector<RoundedStore> group;
  if (mask_ != nullptr || !m_.Has("avx512bw")) return group;
  tir::Affine first;
  for (const Store* store : stores) {
    if (store->buffer != stores[0]->buffer) break;
    std::optional<RoundedStore> found = FindRoundedStore(*store);
    if (!found) break;
    const Access access =
        AnalyzeAccess(*store->buffer, store->indices, &bounds_);
    if (!access.is_ramp() || !access.contiguous()) break;
    tir::Affine base = tir::ToAffine(access.base);
    const auto place = static_cast<int64_t>(group.size());
    if (place == 0) first = base;
    const RoundedStore& like = place == 0 ? *found : group[0];
    if ((base - first).AsConst() != place * kWords ||
        found->tables != like.tables ||
        found->rounded.zero != like.rounded.zero ||
        found->rounded.to != like.rounded.to) {
      break;
    }
    group.push_back(*std::move(found));
    if (group.size() > kMost + 1) break;
  }
  // Three and two are better than four and one.
  if (group.size() > kMost) {
    group.resize(group.size() == kMost + 1 ? kMost - 1 : kMost);
  }
  if (!MayTakeTurns(stores.first(group.size()))) group.clear();
  return group;
}

void KernelEmitter::EmitByteGroup(const Store& first,
                                  const std::vector<RoundedStore>& group) {
  std::vector<Value*> numbers;
  SideBySide side_by_side(b_);
  for (const RoundedStore& part : group) {
    cache_.clear();
    numbers.push_back(EmitWholeQuotient(part.rounded));
    side_by_side.Next();
  }
  side_by_side.TakeTurns();
  cache_.clear();
  const Quantization& q = group[0].rounded;
  Value* bytes = PackedBytes(b_, std::move(numbers), q.zero, q.to.is_int());
  const std::vector<const tir::BufferNode*>& tables = group[0].tables;
  for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
    bytes = EmitLookUp(**table, bytes);
  }
  const int stored = static_cast<int>(group.size()) * kWords;
  const Access access = AnalyzeAccess(*first.buffer, first.indices, &bounds_);
  b_.CreateAlignedStore(b_.CreateShuffleVector(bytes, Counting(stored)),
                        Address(*first.buffer, EmitExpr(access.base), true),
                        llvm::Align(1));
}

}  // namespace ingot::codegen
