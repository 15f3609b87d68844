// Multiplications that the threads of a warp make together, by the units of
// NVIDIA's GPUs from sm_80 on: PTX ISA, mma.m16n8k16 and ldmatrix.
#include <array>
#include <vector>

#include "compiler/codegen/llvm/device.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/warp_nest.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// Four 8 x 8 parts of an operand: 16 by 16 elements.
constexpr int kParts = 4;
using Part = std::array<Value*, kParts>;

// Loads and multiplies a warp's parts of operands.
class WarpTiles {
 public:
  WarpTiles(llvm::IRBuilder<>& b, llvm::Type* element, bool is_bfloat)
      : b_(b), element_(element), is_bfloat_(is_bfloat) {}

  // Each thread gives the address of one row of a part: threads 0 to 7 of the
  // first part, and so on. The second of two neighbouring parts is of the next
  // eight terms or of the next group.
  Value* AddressOf(const WarpNest::Operand& operand, Value* first, Value* lane,
                   bool terms_first) {
    Value* const row = b_.CreateAnd(lane, WarpNest::kGroup - 1);
    Value* const part = b_.CreateLShr(lane, 3);
    Value* const odd = b_.CreateAnd(part, 1);
    Value* const high = b_.CreateLShr(part, 1);
    const auto times = [&](Value* n, int64_t stride) {
      return b_.CreateNSWMul(n, b_.getInt64(stride));
    };
    const int64_t of_row = operand.TermsAreTogether() ? operand.element_stride
                                                      : operand.term_stride;
    Value* offset = times(row, of_row);
    offset =
        b_.CreateNSWAdd(offset, times(terms_first ? odd : high,
                                      WarpNest::kGroup * operand.term_stride));
    offset = b_.CreateNSWAdd(
        offset, times(terms_first ? high : odd, operand.group_stride));
    return b_.CreateInBoundsGEP(element_, first, offset);
  }

  Part Load(const WarpNest::Operand& operand, Value* address, int64_t group,
            int64_t term) {
    const int64_t offset =
        group * operand.group_stride + term * operand.term_stride;
    Value* const from =
        b_.CreateInBoundsGEP(element_, address, b_.getInt64(offset));
    Value* const loaded = b_.CreateIntrinsic(
        operand.TermsAreTogether()
            ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
            : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16,
        {from->getType()}, {from});
    Part part;
    for (unsigned i = 0; i < kParts; ++i) {
      part[i] = b_.CreateExtractValue(loaded, i);
    }
    return part;
  }

  // Adds the products with the half of `columns` to a thread's four sums.
  void Multiply(const Part& rows, const Part& columns, int half,
                const std::array<Value**, 4>& sums) {
    std::vector<Value*> arguments;
    llvm::Type* const pair = llvm::FixedVectorType::get(b_.getHalfTy(), 2);
    const auto add = [&](Value* registers) {
      arguments.push_back(is_bfloat_ ? registers
                                     : b_.CreateBitCast(registers, pair));
    };
    for (Value* of_rows : rows) add(of_rows);
    add(columns[2 * half]);
    add(columns[2 * half + 1]);
    for (Value** sum : sums) arguments.push_back(*sum);
    Value* const result = b_.CreateIntrinsic(
        is_bfloat_ ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16
                   : llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32,
        {}, arguments);
    for (unsigned i = 0; i < sums.size(); ++i) {
      *sums[i] = b_.CreateExtractValue(result, i);
    }
  }

 private:
  llvm::IRBuilder<>& b_;
  llvm::Type* const element_;
  const bool is_bfloat_;
};

}  // namespace

void KernelEmitter::EmitWarpTiles(const tir::For& threads) {
  const absl::StatusOr<WarpNest> read = ReadWarpNest(threads, bounds_);
  if (!read.ok()) {
    Fail(read.status().message(), DataType::Int(64));
    return;
  }
  const WarpNest& nest = *read;
  cache_.clear();
  BindVar(nest.warp.get(), b_.CreateLShr(group_->item, 5));
  Value* const lane = b_.CreateAnd(group_->item, WarpNest::kThreads - 1);
  const DataType type = nest.a.buffer->dtype;
  WarpTiles tiles(b_, module_->MemoryType(type), type == DataType::BFloat16());
  const auto address = [&](const WarpNest::Operand& operand, bool terms_first) {
    Value* const first =
        Address(*operand.buffer, EmitExpr(operand.offset), true);
    return tiles.AddressOf(operand, first, lane, terms_first);
  };
  Value* const a = address(nest.a, false);
  Value* const b = address(nest.b, true);

  // The sums in registers: [row group, column group, pair].
  Value* const first = EmitExpr(nest.sum_offset);
  std::vector<Value*> sums, places;
  for (int64_t i = 0; i < nest.row_groups; ++i) {
    for (int64_t j = 0; j < nest.column_groups; ++j) {
      for (int64_t e = 0; e < 2; ++e) {
        const int64_t offset = i * nest.sum_row_stride +
                               j * nest.sum_column_stride +
                               e * nest.sum_pair_stride;
        places.push_back(Address(
            *nest.sum, b_.CreateNSWAdd(first, b_.getInt64(offset)), true));
        sums.push_back(b_.CreateLoad(b_.getFloatTy(), places.back()));
      }
    }
  }
  const auto sum = [&](int64_t i, int64_t j, int64_t e) {
    return &sums[static_cast<size_t>((i * nest.column_groups + j) * 2 + e)];
  };
  for (int64_t k = 0; k < nest.terms; k += WarpNest::kTerms) {
    std::vector<Part> rows, columns;
    for (int64_t i = 0; i < nest.row_groups; i += 2) {
      rows.push_back(tiles.Load(nest.a, a, i, k));
    }
    for (int64_t j = 0; j < nest.column_groups; j += 2) {
      columns.push_back(tiles.Load(nest.b, b, j, k));
    }
    for (int64_t i = 0; i < nest.row_groups; i += 2) {
      for (int64_t j = 0; j < nest.column_groups; ++j) {
        tiles.Multiply(
            rows[i / 2], columns[j / 2], static_cast<int>(j % 2),
            {sum(i, j, 0), sum(i, j, 1), sum(i + 1, j, 0), sum(i + 1, j, 1)});
      }
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) b_.CreateStore(sums[i], places[i]);
}

}  // namespace ingot::codegen
