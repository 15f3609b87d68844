// Products of bytes, four of them with their sum, by the instructions that
// machines have for them.
#include <vector>

#include "compiler/codegen/llvm/math.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsWebAssembly.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"

namespace ingot::codegen {
namespace {

using llvm::Type;
using llvm::Value;

// WebAssembly multiplies pairs of 16-bit integers: the bytes of even and of odd
// places, each made as wide.
Value* Dot4ByPairs(llvm::IRBuilder<>& b, Value* x, Value* y, Value* z) {
  Type* halves = llvm::FixedVectorType::get(b.getInt16Ty(), 8);
  x = b.CreateBitCast(x, halves);
  y = b.CreateBitCast(y, halves);
  const auto dot = [&](Value* left, Value* right) {
    return b.CreateIntrinsic(llvm::Intrinsic::wasm_dot, {}, {left, right});
  };
  Value* even = dot(b.CreateAnd(x, 0xff), b.CreateAShr(b.CreateShl(y, 8), 8));
  Value* odd = dot(b.CreateLShr(x, 8), b.CreateAShr(y, 8));
  return b.CreateAdd(b.CreateAdd(z, even), odd);
}

// The instruction for vectors of so many lanes, whatever the bytes are.
llvm::Intrinsic::ID Dot4Instruction(const Machine& m, unsigned lanes) {
  if (m.is_wasm) {
    return lanes == 4 && m.Has("simd128") ? llvm::Intrinsic::wasm_dot
                                          : llvm::Intrinsic::not_intrinsic;
  }
  if (m.Has("i8mm")) {
    return lanes == 4 ? llvm::Intrinsic::aarch64_neon_usdot
                      : llvm::Intrinsic::not_intrinsic;
  }
  const bool wide = m.Has("avx512vnni");
  const bool narrow = m.Has("avxvnni") || (wide && m.Has("avx512vl"));
  if (lanes == 16 && wide) return llvm::Intrinsic::x86_avx512_vpdpbusd_512;
  if (lanes == 8 && narrow) return llvm::Intrinsic::x86_avx512_vpdpbusd_256;
  if (lanes == 4 && narrow) return llvm::Intrinsic::x86_avx512_vpdpbusd_128;
  return llvm::Intrinsic::not_intrinsic;
}

Value* Dot4(llvm::IRBuilder<>& b, const Machine& m, Value* x, Value* y,
            Value* z) {
  Type* type = x->getType();
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    const llvm::Intrinsic::ID id = Dot4Instruction(m, vector->getNumElements());
    if (id == llvm::Intrinsic::wasm_dot) return Dot4ByPairs(b, x, y, z);
    if (id == llvm::Intrinsic::aarch64_neon_usdot) {
      Type* bytes = llvm::FixedVectorType::get(b.getInt8Ty(), 16);
      return b.CreateIntrinsic(
          id, {type, bytes},
          {z, b.CreateBitCast(x, bytes), b.CreateBitCast(y, bytes)});
    }
    if (id != llvm::Intrinsic::not_intrinsic) {
      return b.CreateIntrinsic(id, {}, {z, x, y});
    }
  }
  for (int j = 0; j < 4; ++j) {
    Value* left = b.CreateAnd(b.CreateLShr(x, 8 * j), 0xff);
    Value* right = b.CreateAShr(b.CreateShl(y, 24 - 8 * j), 24);
    z = b.CreateAdd(z, b.CreateMul(left, right));
  }
  return z;
}

// x86 multiplies the bytes of two vectors, those of the first without a sign,
// and adds up pairs of products, in 16 bits; and it does the same for pairs of
// 16 bits.
struct PairInstructions {
  llvm::Intrinsic::ID bytes = llvm::Intrinsic::not_intrinsic;
  llvm::Intrinsic::ID halves = llvm::Intrinsic::not_intrinsic;
};

PairInstructions PairInstructionsOf(const Machine& m, unsigned lanes) {
  if (lanes == 16 && m.Has("avx512bw")) {
    return {llvm::Intrinsic::x86_avx512_pmaddubs_w_512,
            llvm::Intrinsic::x86_avx512_pmaddw_d_512};
  }
  if (lanes == 8 && m.Has("avx2")) {
    return {llvm::Intrinsic::x86_avx2_pmadd_ub_sw,
            llvm::Intrinsic::x86_avx2_pmadd_wd};
  }
  if (lanes == 4 && m.Has("ssse3")) {
    return {llvm::Intrinsic::x86_ssse3_pmadd_ub_sw_128,
            llvm::Intrinsic::x86_sse2_pmadd_wd};
  }
  return {};
}

// The most that a byte of the lanes of `x` can be.
int MostByte(const llvm::IRBuilder<>& b, Value* x) {
  const llvm::KnownBits bits = llvm::computeKnownBits(
      x, b.GetInsertBlock()->getModule()->getDataLayout());
  int most = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const llvm::APInt may_be_set = ~bits.Zero.extractBits(8, 8 * byte);
    most = std::max(most, static_cast<int>(may_be_set.getZExtValue()));
  }
  return most;
}

// Adds up the products of as many terms as 16 bits hold before making them as
// wide as the result.
Value* Dot4sByPairs(llvm::IRBuilder<>& b, const PairInstructions& pairs,
                    const std::vector<Dot4Terms>& terms, int terms_at_once,
                    Value* z) {
  const unsigned lanes =
      llvm::cast<llvm::FixedVectorType>(z->getType())->getNumElements();
  Type* const bytes = llvm::FixedVectorType::get(b.getInt8Ty(), 4 * lanes);
  Value* const ones = llvm::ConstantInt::get(
      llvm::FixedVectorType::get(b.getInt16Ty(), 2 * lanes), 1);
  Value* sum = nullptr;
  for (size_t i = 0; i < terms.size(); ++i) {
    Value* products = b.CreateIntrinsic(pairs.bytes, {},
                                        {b.CreateBitCast(terms[i].x, bytes),
                                         b.CreateBitCast(terms[i].y, bytes)});
    sum = sum == nullptr ? products : b.CreateAdd(sum, products);
    const bool is_full = (i + 1) % terms_at_once == 0 || i + 1 == terms.size();
    if (!is_full) continue;
    z = b.CreateAdd(z, b.CreateIntrinsic(pairs.halves, {}, {sum, ones}));
    sum = nullptr;
  }
  return z;
}

}  // namespace

Value* EmitDot4s(llvm::IRBuilder<>& b, const Machine& m,
                 const std::vector<Dot4Terms>& terms, Value* z) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(z->getType());
  const unsigned lanes = vector == nullptr ? 1 : vector->getNumElements();
  if (Dot4Instruction(m, lanes) == llvm::Intrinsic::not_intrinsic) {
    int most = 0;
    for (const Dot4Terms& term : terms)
      most = std::max(most, MostByte(b, term.x));
    const PairInstructions pairs = PairInstructionsOf(m, lanes);
    // Two products of the largest magnitude are added up to begin with.
    const int at_once = most == 0 ? 0 : INT16_MAX / (2 * most * 128);
    if (at_once > 0 && pairs.bytes != llvm::Intrinsic::not_intrinsic) {
      return Dot4sByPairs(b, pairs, terms, at_once, z);
    }
    // Bytes that have no sign and those that do not use it are the same.
    if (most < 128 && lanes == 4 && m.Has("dotprod")) {
      Type* const bytes = llvm::FixedVectorType::get(b.getInt8Ty(), 16);
      for (const auto& [x, y] : terms) {
        z = b.CreateIntrinsic(
            llvm::Intrinsic::aarch64_neon_sdot, {z->getType(), bytes},
            {z, b.CreateBitCast(x, bytes), b.CreateBitCast(y, bytes)});
      }
      return z;
    }
  }
  for (const auto& [x, y] : terms) z = Dot4(b, m, x, y, z);
  return z;
}

}  // namespace ingot::codegen
