// Multiplications that the threads of four warps make together, by the units of
// NVIDIA's Hopper: PTX ISA, wgmma.mma_async. Operands lie in shared memory as
// descriptors say.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/codegen/llvm/device.h"
#include "compiler/codegen/llvm/inline_asm.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/warp_nest.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// Descriptors have addresses and strides in units of so many bytes.
constexpr int64_t kUnit = 16;

// Instructions that change sums in place, whose numbers in the text come first,
// and read what `others` are.
std::vector<Value*> ChangeSums(llvm::IRBuilder<>& b,
                               const std::vector<Value*>& sums,
                               const std::vector<Value*>& others,
                               const std::string& text,
                               const std::string& constraints_of_others) {
  std::vector<std::string> constraints(sums.size(), "=f");
  for (size_t i = 0; i < sums.size(); ++i) {
    constraints.push_back(absl::StrCat(i));
  }
  std::vector<Value*> arguments = sums;
  arguments.insert(arguments.end(), others.begin(), others.end());
  llvm::Type* const result = llvm::StructType::get(
      b.getContext(), std::vector<llvm::Type*>(sums.size(), b.getFloatTy()));
  Value* const changed = EmitAsm(
      b, result, arguments, text,
      absl::StrCat(absl::StrJoin(constraints, ","), constraints_of_others));
  std::vector<Value*> values;
  for (unsigned i = 0; i < sums.size(); ++i) {
    values.push_back(b.CreateExtractValue(changed, i));
  }
  return values;
}

// Describes an operand of swizzled rows that begins at an address of shared
// memory.
Value* Descriptor(llvm::IRBuilder<>& b, const WarpNest::Operand& operand,
                  Value* address) {
  const auto units = [&operand](int64_t stride) {
    return static_cast<uint64_t>(stride * operand.buffer->dtype.bytes() /
                                 kUnit);
  };
  constexpr uint64_t kMostStart = 0x3fff, kSwizzled = uint64_t{1} << 62;
  Value* const start =
      b.CreateAnd(b.CreateLShr(b.CreatePtrToInt(address, b.getInt64Ty()), 4),
                  b.getInt64(kMostStart));
  // This is the way from eight rows to the next; the other, where a row does
  // not have all of an operand's side, is that to the next rows.
  const uint64_t of_rows =
      operand.TermsAreTogether() ? operand.group_stride : operand.half_stride;
  return b.CreateOr(start, b.getInt64(units(operand.chunk_stride) << 16 |
                                      units(of_rows) << 32 | kSwizzled));
}

// One multiplication of 16 terms. `operands` is the number of its first
// descriptor among the instructions' operands.
std::string Multiplication(const WarpNest& nest, size_t sums, size_t operands) {
  const char* const type =
      nest.a.buffer->dtype == DataType::BFloat16() ? "bf16" : "f16";
  std::vector<std::string> registers;
  for (size_t i = 0; i < sums; ++i) registers.push_back(absl::StrCat("$", i));
  return absl::StrCat("wgmma.mma_async.sync.aligned.m64n",
                      nest.column_groups * WarpNest::kGroup, "k16.f32.", type,
                      ".", type, " {", absl::StrJoin(registers, ", "), "}, $",
                      operands, ", $", operands + 1, ", $", 2 * sums,
                      ", 1, 1, ", nest.a.TermsAreTogether() ? 0 : 1, ", ",
                      nest.b.TermsAreTogether() ? 0 : 1, ";\n\t");
}

}  // namespace

bool KernelEmitter::MultipliesInGroups(const WarpNest& nest) const {
  return IsHopper(m_) && nest.fits_groups &&
         nest.warps * WarpNest::kThreads == group_->items;
}

void KernelEmitter::EmitGroupWaitForOthers() {
  EmitAsm(b_, b_.getVoidTy(), {}, "wgmma.wait_group.sync.aligned 1;", "");
}

void KernelEmitter::EmitGroupTiles(const WarpNest& nest) {
  // The first of the four warps has their first rows.
  BindVar(nest.warp.get(), b_.CreateAnd(b_.CreateLShr(group_->item, 5),
                                        b_.getInt64(-WarpNest::kGroupWarps)));
  const auto describe = [&](const WarpNest::Operand& operand) {
    return Descriptor(b_, operand,
                      Address(*operand.buffer, EmitExpr(operand.offset), true));
  };
  Value *const a = describe(nest.a), *const b = describe(nest.b);
  const std::vector<Value*> sums = LoadSums(nest);
  std::vector<Value*> others = {b_.getTrue()};
  std::string text = "wgmma.fence.sync.aligned;\n\t", constraints = ",b";
  const int64_t bytes = nest.a.buffer->dtype.bytes();
  for (int64_t half = 0; half * nest.HalfTerms() < nest.terms; half += 2) {
    absl::StrAppend(&text, Multiplication(nest, sums.size(),
                                          2 * sums.size() + others.size()));
    const auto later = [&](Value* descriptor, int64_t stride) {
      return b_.CreateAdd(descriptor,
                          b_.getInt64(half * stride * bytes / kUnit));
    };
    others.push_back(later(a, nest.a.half_stride));
    others.push_back(later(b, nest.b.half_stride));
    absl::StrAppend(&constraints, ",l,l");
  }
  absl::StrAppend(&text, "wgmma.commit_group.sync.aligned;");
  StoreSums(nest, ChangeSums(b_, sums, others, text, constraints));
}

void KernelEmitter::EmitGroupWait(const WarpNest& nest) {
  StoreSums(nest, ChangeSums(b_, LoadSums(nest), {},
                             "wgmma.wait_group.sync.aligned 0;", ""));
}

}  // namespace ingot::codegen
