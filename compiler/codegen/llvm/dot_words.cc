// Products of the parts of words with their sum, of four bytes or two halves,
// by the instructions that machines have for them.
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

// The instruction that multiplies four bytes of each of so many lanes, whatever
// they are.
llvm::Intrinsic::ID Dot4Instruction(const Machine& m, unsigned lanes) {
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

// Instructions that multiply the elements of two vectors and add up pairs of
// products: bytes, those of the first without a sign, with sums of 16 bits that
// saturate; and signed elements of 16 bits.
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
  if (lanes == 4 && m.Has("simd128")) {
    return {llvm::Intrinsic::not_intrinsic, llvm::Intrinsic::wasm_dot};
  }
  return {};
}

// The bytes of even and of odd places, each made 16 bits wide.
Value* Dot4ByHalves(llvm::IRBuilder<>& b, llvm::Intrinsic::ID multiply,
                    const Dot4Terms& term, Value* z) {
  const unsigned lanes =
      llvm::cast<llvm::FixedVectorType>(z->getType())->getNumElements();
  Type* const halves = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * lanes);
  Value* const x = b.CreateBitCast(term.x, halves);
  Value* const y = b.CreateBitCast(term.y, halves);
  const auto dot = [&](Value* left, Value* right) {
    return b.CreateIntrinsic(multiply, {}, {left, right});
  };
  Value* even = dot(b.CreateAnd(x, 0xff), b.CreateAShr(b.CreateShl(y, 8), 8));
  Value* odd = dot(b.CreateLShr(x, 8), b.CreateAShr(y, 8));
  return b.CreateAdd(b.CreateAdd(z, even), odd);
}

// By what every machine has.
Value* Dot4ByBytes(llvm::IRBuilder<>& b, const Dot4Terms& term, Value* z) {
  for (int j = 0; j < 4; ++j) {
    Value* left = b.CreateAnd(b.CreateLShr(term.x, 8 * j), 0xff);
    Value* right = b.CreateAShr(b.CreateShl(term.y, 24 - 8 * j), 24);
    z = b.CreateAdd(z, b.CreateMul(left, right));
  }
  return z;
}

// One word as a vector of bytes. LLVM 19 makes vectors of several that stand
// side by side by their shifts, and x86's code for these gives other numbers.
Value* Dot4ByVector(llvm::IRBuilder<>& b, const Dot4Terms& term, Value* z) {
  Type* const bytes = llvm::FixedVectorType::get(b.getInt8Ty(), 4);
  Type* const wide = llvm::FixedVectorType::get(b.getInt32Ty(), 4);
  Value* const x = b.CreateZExt(b.CreateBitCast(term.x, bytes), wide);
  Value* const y = b.CreateSExt(b.CreateBitCast(term.y, bytes), wide);
  return b.CreateAdd(z, b.CreateAddReduce(b.CreateMul(x, y)));
}

// By one instruction, whose products are of bytes.
Value* Dot4ByInstruction(llvm::IRBuilder<>& b, llvm::Intrinsic::ID id,
                         const Dot4Terms& term, Value* z) {
  const bool is_arm = id == llvm::Intrinsic::aarch64_neon_usdot ||
                      id == llvm::Intrinsic::aarch64_neon_sdot;
  if (!is_arm) return b.CreateIntrinsic(id, {}, {z, term.x, term.y});
  Type* const bytes = llvm::FixedVectorType::get(b.getInt8Ty(), 16);
  return b.CreateIntrinsic(
      id, {z->getType(), bytes},
      {z, b.CreateBitCast(term.x, bytes), b.CreateBitCast(term.y, bytes)});
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

// Halves of odd places and of even ones, by what every machine has.
Value* Dot2ByShifts(llvm::IRBuilder<>& b, Value* x, Value* y, Value* z) {
  const auto low = [&b](Value* word) {
    return b.CreateAShr(b.CreateShl(word, 16), 16);
  };
  z = b.CreateAdd(z, b.CreateMul(low(x), low(y)));
  return b.CreateAdd(z, b.CreateMul(b.CreateAShr(x, 16), b.CreateAShr(y, 16)));
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

unsigned LanesOf(const Value* z) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(z->getType());
  return vector == nullptr ? 1 : vector->getNumElements();
}

}  // namespace

Value* EmitDot2(llvm::IRBuilder<>& b, const Machine& m, Value* x, Value* y,
                Value* z) {
  const unsigned lanes = LanesOf(z);
  const llvm::Intrinsic::ID multiply = PairInstructionsOf(m, lanes).halves;
  if (multiply == llvm::Intrinsic::not_intrinsic) {
    return Dot2ByShifts(b, x, y, z);
  }
  Type* const halves = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * lanes);
  Value* const products = b.CreateIntrinsic(
      multiply, {}, {b.CreateBitCast(x, halves), b.CreateBitCast(y, halves)});
  return b.CreateAdd(z, products);
}

Value* EmitDot4s(llvm::IRBuilder<>& b, const Machine& m,
                 const std::vector<Dot4Terms>& terms, Value* z) {
  const unsigned lanes = LanesOf(z);
  llvm::Intrinsic::ID instruction = Dot4Instruction(m, lanes);
  const PairInstructions pairs = PairInstructionsOf(m, lanes);
  if (instruction == llvm::Intrinsic::not_intrinsic) {
    int most = 0;
    for (const Dot4Terms& term : terms)
      most = std::max(most, MostByte(b, term.x));
    // Two products of the largest magnitude are added up to begin with.
    const int at_once = most == 0 ? 0 : INT16_MAX / (2 * most * 128);
    if (at_once > 0 && pairs.bytes != llvm::Intrinsic::not_intrinsic) {
      return Dot4sByPairs(b, pairs, terms, at_once, z);
    }
    // Bytes that have no sign and those that do not use it are the same.
    if (most < 128 && lanes == 4 && m.Has("dotprod")) {
      instruction = llvm::Intrinsic::aarch64_neon_sdot;
    }
  }
  for (const Dot4Terms& term : terms) {
    if (instruction != llvm::Intrinsic::not_intrinsic) {
      z = Dot4ByInstruction(b, instruction, term, z);
    } else if (pairs.halves != llvm::Intrinsic::not_intrinsic) {
      z = Dot4ByHalves(b, pairs.halves, term, z);
    } else if (lanes == 1 && m.Has("avx2")) {
      z = Dot4ByVector(b, term, z);
    } else {
      z = Dot4ByBytes(b, term, z);
    }
  }
  return z;
}

}  // namespace ingot::codegen
