// Multiplications that the threads of a warp make together, by the units of
// NVIDIA's GPUs from sm_80 on: PTX ISA, mma.m16n8k16, m16n8k8 and ldmatrix.
#include <array>
#include <vector>

#include "compiler/codegen/llvm/device.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/warp_nest.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// Four parts of an operand, each of eight elements along its side and 16 bytes
// of terms: a register of each thread has what is its thread's of one.
constexpr int kParts = 4;
using Part = std::array<Value*, kParts>;

// An operand of the warp, where a thread begins to read.
struct PlacedOperand {
  const WarpNest::Operand& operand;
  Value* address;
  // Whether the second of two neighbouring parts is of the next terms, not of
  // the next group.
  bool terms_first;
  // Whether a thread gives the address of a row of one part, so that the warp
  // loads four of them together, or of its own element of the first part.
  bool by_rows;
};

// Loads and multiplies a warp's parts of operands.
class WarpTiles {
 public:
  WarpTiles(llvm::IRBuilder<>& b, llvm::Type* element, const WarpNest& nest)
      : b_(b), element_(element), type_(nest.a.buffer->dtype) {}

  PlacedOperand Place(const WarpNest::Operand& operand, Value* first,
                      Value* lane, bool terms_first) {
    const bool is_tf32 = type_ == DataType::Float(32);
    const bool by_rows = !is_tf32 || operand.TermsAreTogether();
    const auto times = [&](Value* n, int64_t stride) {
      return b_.CreateNSWMul(n, b_.getInt64(stride));
    };
    Value* offset;
    if (by_rows) {
      // Threads 0 to 7 have the rows of the first part, and so on.
      Value* const part = b_.CreateLShr(lane, 3);
      Value* const odd = b_.CreateAnd(part, 1);
      Value* const high = b_.CreateLShr(part, 1);
      const int64_t of_row = operand.TermsAreTogether() ? operand.element_stride
                                                        : operand.term_stride;
      offset = times(b_.CreateAnd(lane, WarpNest::kGroup - 1), of_row);
      offset = b_.CreateNSWAdd(
          offset, times(terms_first ? odd : high, operand.half_stride));
      offset = b_.CreateNSWAdd(
          offset, times(terms_first ? high : odd, operand.group_stride));
    } else {
      offset = b_.CreateNSWAdd(
          times(b_.CreateLShr(lane, 2), operand.element_stride),
          times(b_.CreateAnd(lane, WarpNest::kColumnThreads - 1),
                operand.term_stride));
    }
    return {operand, b_.CreateInBoundsGEP(element_, first, offset), terms_first,
            by_rows};
  }

  // The parts of two groups and of two halves of terms.
  Part Load(const PlacedOperand& from, int64_t group, int64_t half) {
    const int64_t offset =
        from.operand.OffsetOfGroup(group) + half * from.operand.half_stride;
    Part part =
        from.by_rows ? LoadRows(from, offset) : LoadElements(from, offset);
    if (type_ == DataType::Float(32)) {
      for (Value*& register_of : part) register_of = Rounded(register_of);
    }
    return part;
  }

  // Adds the products with the half of `columns` to a thread's four sums.
  void Multiply(const Part& rows, const Part& columns, int half,
                const std::array<Value**, 4>& sums) {
    std::vector<Value*> arguments;
    llvm::Type* const pair = llvm::FixedVectorType::get(b_.getHalfTy(), 2);
    const auto add = [&](Value* registers) {
      arguments.push_back(type_ == DataType::Float(16)
                              ? b_.CreateBitCast(registers, pair)
                              : registers);
    };
    for (Value* of_rows : rows) add(of_rows);
    add(columns[2 * half]);
    add(columns[2 * half + 1]);
    for (Value** sum : sums) arguments.push_back(*sum);
    Value* const result = b_.CreateIntrinsic(Product(), {}, arguments);
    for (unsigned i = 0; i < sums.size(); ++i) {
      *sums[i] = b_.CreateExtractValue(result, i);
    }
  }

 private:
  Part LoadRows(const PlacedOperand& from, int64_t offset) {
    Value* const address =
        b_.CreateInBoundsGEP(element_, from.address, b_.getInt64(offset));
    Value* const loaded = b_.CreateIntrinsic(
        from.operand.TermsAreTogether()
            ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
            : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16,
        {address->getType()}, {address});
    Part part;
    for (unsigned i = 0; i < kParts; ++i) {
      part[i] = b_.CreateExtractValue(loaded, i);
    }
    return part;
  }

  Part LoadElements(const PlacedOperand& from, int64_t offset) {
    const int64_t terms = from.operand.half_stride,
                  group = from.operand.group_stride;
    const int64_t odd = from.terms_first ? terms : group,
                  high = from.terms_first ? group : terms;
    Part part;
    for (int64_t i = 0; i < kParts; ++i) {
      part[static_cast<size_t>(i)] =
          b_.CreateLoad(b_.getInt32Ty(),
                        b_.CreateInBoundsGEP(
                            element_, from.address,
                            b_.getInt64(offset + i % 2 * odd + i / 2 * high)));
    }
    return part;
  }

  Value* Rounded(Value* f32) {
    return b_.CreateIntrinsic(llvm::Intrinsic::nvvm_f2tf32_rna, {},
                              {b_.CreateBitCast(f32, b_.getFloatTy())});
  }

  llvm::Intrinsic::ID Product() const {
    if (type_ == DataType::Float(16)) {
      return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
    }
    return type_ == DataType::BFloat16()
               ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16
               : llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32;
  }

  llvm::IRBuilder<>& b_;
  llvm::Type* const element_;
  const DataType type_;
};

}  // namespace

void KernelEmitter::EmitWarpTiles(const tir::For& threads) {
  const absl::StatusOr<WarpNest> read = ReadWarpNest(threads, bounds_);
  if (!read.ok()) {
    Fail(read.status().message(), DataType::Int(64));
    return;
  }
  cache_.clear();
  if (multiplies_on_) {
    EmitGroupTiles(*read);
    return;
  }
  const WarpNest& nest = *read;
  BindVar(nest.warp.get(), b_.CreateLShr(group_->item, 5));
  Value* const lane = b_.CreateAnd(group_->item, WarpNest::kThreads - 1);
  WarpTiles tiles(b_, module_->MemoryType(nest.a.buffer->dtype), nest);
  const auto place = [&](const WarpNest::Operand& operand, bool terms_first) {
    Value* const first =
        Address(*operand.buffer, EmitExpr(operand.offset), true);
    return tiles.Place(operand, first, lane, terms_first);
  };
  const PlacedOperand a = place(nest.a, false), b = place(nest.b, true);
  std::vector<Value*> sums = LoadSums(nest);
  const auto sum = [&](int64_t i, int64_t j, int64_t e) {
    return &sums[nest.SumAt(i, j, e)];
  };
  for (int64_t half = 0; half * nest.HalfTerms() < nest.terms; half += 2) {
    std::vector<Part> rows, columns;
    for (int64_t i = 0; i < nest.row_groups; i += 2) {
      rows.push_back(tiles.Load(a, i, half));
    }
    for (int64_t j = 0; j < nest.column_groups; j += 2) {
      columns.push_back(tiles.Load(b, j, half));
    }
    for (int64_t i = 0; i < nest.row_groups; i += 2) {
      for (int64_t j = 0; j < nest.column_groups; ++j) {
        tiles.Multiply(
            rows[i / 2], columns[j / 2], static_cast<int>(j % 2),
            {sum(i, j, 0), sum(i, j, 1), sum(i + 1, j, 0), sum(i + 1, j, 1)});
      }
    }
  }
  StoreSums(nest, sums);
}

std::vector<Value*> KernelEmitter::SumPlaces(const WarpNest& nest) {
  Value* const first = EmitExpr(nest.sum_offset);
  std::vector<Value*> places;
  for (int64_t j = 0; j < nest.column_groups; ++j) {
    for (int64_t i = 0; i < nest.row_groups; ++i) {
      for (int64_t e = 0; e < 2; ++e) {
        const int64_t offset = i * nest.sum_row_stride +
                               j * nest.sum_column_stride +
                               e * nest.sum_pair_stride;
        places.push_back(Address(
            *nest.sum, b_.CreateNSWAdd(first, b_.getInt64(offset)), true));
      }
    }
  }
  return places;
}

std::vector<Value*> KernelEmitter::LoadSums(const WarpNest& nest) {
  std::vector<Value*> sums = SumPlaces(nest);
  for (Value*& sum : sums) sum = b_.CreateLoad(b_.getFloatTy(), sum);
  return sums;
}

void KernelEmitter::StoreSums(const WarpNest& nest,
                              const std::vector<Value*>& sums) {
  const std::vector<Value*> places = SumPlaces(nest);
  for (size_t i = 0; i < sums.size(); ++i) b_.CreateStore(sums[i], places[i]);
}

}  // namespace ingot::codegen
