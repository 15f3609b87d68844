// Loads of elements that are apart, as vectors of neighbours that are shuffled.
#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compiler/codegen/llvm/device.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/side_by_side.h"
#include "compiler/codegen/load_blocks.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// Instructions that interleave the elements of two vectors do so in each of
// their parts of so many bits.
constexpr int kPartBits = 128;

// Returns the vectors one after the other as one. Their number is a power of 2.
Value* Join(llvm::IRBuilder<>& b, std::vector<Value*> parts) {
  while (parts.size() > 1) {
    const auto* type = llvm::cast<llvm::FixedVectorType>(parts[0]->getType());
    std::vector<int> order;
    for (unsigned i = 0; i < 2 * type->getNumElements(); ++i) {
      order.push_back(static_cast<int>(i));
    }
    for (size_t i = 0; i < parts.size() / 2; ++i) {
      parts[i] = b.CreateShuffleVector(parts[2 * i], parts[2 * i + 1], order);
    }
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

// Returns the elements of two vectors in turns, part by part: those of the
// parts' lower halves, or of their upper ones.
Value* Interleave(llvm::IRBuilder<>& b, Value* x, Value* y, int part,
                  bool upper) {
  const auto* type = llvm::cast<llvm::FixedVectorType>(x->getType());
  const int lanes = static_cast<int>(type->getNumElements());
  std::vector<int> order;
  for (int from = upper ? part / 2 : 0; from < lanes; from += part) {
    for (int i = from; i < from + part / 2; ++i) {
      order.push_back(i);
      order.push_back(lanes + i);
    }
  }
  return b.CreateShuffleVector(x, y, order);
}

// Loads so many bits if told to; otherwise they are 0.
Value* LoadIf(llvm::IRBuilder<>& b, Value* condition, Value* address, int bits,
              llvm::Align align) {
  // Processors load words under a mask.
  const int word = bits % 32 == 0 ? 32 : bits;
  const int words = bits / word;
  llvm::Type* type = llvm::FixedVectorType::get(b.getIntNTy(word), words);
  return b.CreateMaskedLoad(type, address, align,
                            b.CreateVectorSplat(words, condition),
                            llvm::Constant::getNullValue(type));
}

}  // namespace

// Vectors of neighbours have all that lies between the first element and the
// last one, and nothing beyond: the last of them may overlap the one before.
Value* KernelEmitter::EmitSpacedLoad(const tir::Load& e, const Access& access,
                                     int64_t stride) {
  const DataType t = e.dtype;
  const int64_t lanes = t.lanes, span = stride * (lanes - 1) + 1;
  Value* base = EmitExpr(access.base);
  Value* result = nullptr;
  for (int64_t k = 0; k < stride; ++k) {
    const bool is_last = k + 1 == stride;
    const int64_t start = is_last ? span - lanes : k * lanes;
    Value* offset = b_.CreateNSWAdd(base, b_.getInt64(start));
    Value* part = b_.CreateAlignedLoad(module_->MemoryType(t),
                                       Address(*e.buffer, offset, true),
                                       llvm::Align(t.element().bytes()));
    std::vector<int> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t from = std::min(lane * stride / lanes, stride - 1);
      const int64_t place = lane * stride - start;
      if (k == 0) {
        order.push_back(static_cast<int>(from == 0 ? place : 0));
      } else {
        order.push_back(static_cast<int>(from == k ? lanes + place : lane));
      }
    }
    result = k == 0 ? b_.CreateShuffleVector(part, order)
                    : b_.CreateShuffleVector(result, part, order);
  }
  return FromMemory(t, result);
}

// Each vector begins as whole rows, so many in each part. In the number of a
// vector followed by that of an element in its part, the bits of the column are
// then the last ones, after those of the row. Each round of interleaving takes
// the first bit of that number to its end, so that those of the column come
// first in the end: each column is a vector.
void KernelEmitter::EmitLoadBlock(const LoadBlock& block) {
  const DataType t = block.columns[0][0]->dtype;
  const int bits = t.element().bytes() * 8;
  const int columns = static_cast<int>(block.columns.size());
  const int part = std::min(kPartBits / bits, block.rows);
  llvm::Type* row_type =
      llvm::FixedVectorType::get(b_.getIntNTy(bits), columns);
  Value* base = EmitExpr(block.base);
  Value* stride = EmitExpr(block.stride);
  Value* guard = block.guard == nullptr ? nullptr : EmitExpr(block.guard);
  const llvm::Align align(t.element().bytes());
  const auto row_at = [&](int row) -> Value* {
    Value* offset =
        b_.CreateNSWAdd(base, b_.CreateNSWMul(stride, b_.getInt64(row)));
    Value* address = Address(*block.buffer, offset, guard == nullptr);
    if (guard == nullptr) return b_.CreateAlignedLoad(row_type, address, align);
    return b_.CreateBitCast(LoadIf(b_, b_.CreateExtractElement(guard, row),
                                   address, columns * bits, align),
                            row_type);
  };
  std::vector<Value*> vectors;
  for (int v = 0; v < columns; ++v) {
    std::vector<Value*> rows;
    for (int first = v * (part / columns); first < block.rows; first += part) {
      for (int i = 0; i < part / columns; ++i) {
        rows.push_back(row_at(first + i));
      }
    }
    vectors.push_back(Join(b_, std::move(rows)));
  }
  for (int round = 1; round < part; round *= 2) {
    std::vector<Value*> next;
    for (int i = 0; i < columns / 2; ++i) {
      for (bool upper : {false, true}) {
        next.push_back(
            Interleave(b_, vectors[i], vectors[i + columns / 2], part, upper));
      }
    }
    vectors = std::move(next);
  }
  for (int c = 0; c < columns; ++c) {
    Value* value =
        FromMemory(t, b_.CreateBitCast(vectors[c], module_->MemoryType(t)));
    for (const tir::Load* load : block.columns[c]) loaded_[load] = value;
  }
}

size_t KernelEmitter::EmitStores(const tir::Seq& s, size_t first) {
  std::vector<const tir::Store*> stores;
  for (size_t i = first; i < s.stmts.size(); ++i) {
    const auto* store = tir::As<tir::Store>(s.stmts[i]);
    if (store == nullptr) break;
    stores.push_back(store);
  }
  std::multimap<size_t, LoadBlock> blocks;
  if (!IsGpu(m_) && stores.size() > 1) {
    blocks = FindLoadBlocks(stores, bounds_, kPartBits);
  }
  const bool take_turns =
      !IsGpu(m_) && stores.size() > 1 && blocks.empty() && MayTakeTurns(stores);
  SideBySide side_by_side(b_);
  bool joins = false;
  auto next = blocks.begin();
  for (size_t i = 0; i < stores.size(); ++i) {
    cache_.clear();
    for (; next != blocks.end() && next->first == i; ++next) {
      EmitLoadBlock(next->second);
    }
    const std::vector<RoundedStore> group =
        FindByteGroup(absl::MakeSpan(stores).subspan(i));
    if (group.size() > 1) {
      EmitByteGroup(*stores[i], group);
      joins = true;
      i += group.size() - 1;
      continue;
    }
    EmitStmt(s.stmts[first + i]);
    if (take_turns) side_by_side.Next();
  }
  if (take_turns && !joins) side_by_side.TakeTurns();
  loaded_.clear();
  return stores.size();
}

}  // namespace ingot::codegen
