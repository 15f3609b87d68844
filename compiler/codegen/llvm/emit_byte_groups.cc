// Rounded bytes of neighbouring vectors that are looked up in tables, as one
// vector: an instruction that looks up takes no longer for 64 bytes than for
// 16. Bytes that are only stored gain nothing.
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

// The lowest bytes of the words of one register after the other.
Value* LowBytes(llvm::IRBuilder<>& b, std::vector<Value*> registers) {
  llvm::Type* const bytes = llvm::FixedVectorType::get(b.getInt8Ty(), kBytes);
  for (Value*& v : registers) v = b.CreateBitCast(v, bytes);
  if (registers.size() % 2 != 0) {
    registers.push_back(llvm::PoisonValue::get(bytes));
  }
  llvm::SmallVector<int, kBytes> low;
  for (int i = 0; i < 2 * kWords; ++i) {
    low.push_back(static_cast<int>(sizeof(int32_t)) * i);
  }
  std::vector<Value*> pairs;
  for (size_t i = 0; i < registers.size(); i += 2) {
    pairs.push_back(b.CreateShuffleVector(registers[i], registers[i + 1], low));
  }
  if (pairs.size() == 1) return pairs[0];
  return b.CreateShuffleVector(pairs[0], pairs[1], Counting(kBytes));
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
  if (found.tables.empty() || cast == nullptr || cast->dtype.lanes != kWords) {
    return std::nullopt;
  }
  const std::optional<Quantization> q = quantizations_.Find(*cast);
  if (!q) return std::nullopt;
  found.rounded = *q;
  return found;
}

std::vector<KernelEmitter::RoundedStore> KernelEmitter::FindByteGroup(
    absl::Span<const Store* const> stores) {
  std::vector<RoundedStore> group;
  if (mask_ != nullptr) return group;
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
  std::vector<Value*> sums;
  SideBySide side_by_side(b_);
  for (const RoundedStore& part : group) {
    cache_.clear();
    const RoundedByte rounded = EmitRounded(part.rounded);
    FloatMath f(b_, m_, rounded.sum);
    sums.push_back(rounded.is_nan == nullptr
                       ? rounded.sum
                       : f.Pick(rounded.is_nan,
                                f.C(kWholeNumbers - part.rounded.zero),
                                rounded.sum));
    side_by_side.Next();
  }
  side_by_side.TakeTurns();
  cache_.clear();
  Value* bytes = LowBytes(b_, std::move(sums));
  bytes = b_.CreateAdd(
      bytes, llvm::ConstantInt::get(bytes->getType(), group[0].rounded.zero,
                                    /*IsSigned=*/true));
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
