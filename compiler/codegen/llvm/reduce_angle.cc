#include "compiler/codegen/llvm/reduce_angle.h"

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// The digits of 2 / pi in base 2^32, after a word of zeros before the point.
constexpr uint32_t kTwoOverPi[] = {0x00000000, 0xa2f9836e, 0x4e441529,
                                   0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                   0x3c439041, 0xfe5163ab, 0xdebbc561};

llvm::GlobalVariable* Digits(llvm::Module* module) {
  llvm::Constant* digits = llvm::ConstantDataArray::get(
      module->getContext(), llvm::ArrayRef<uint32_t>(kTwoOverPi));
  return new llvm::GlobalVariable(
      *module, digits->getType(), true, llvm::GlobalValue::PrivateLinkage,
      digits, "ingot.two_over_pi", nullptr, llvm::GlobalValue::NotThreadLocal,
      module->getDataLayout().getDefaultGlobalsAddressSpace());
}

}  // namespace

llvm::Function* ReduceAngleFunction(llvm::Module* module) {
  constexpr char kName[] = "ingot.reduce_angle";
  if (llvm::Function* made = module->getFunction(kName)) return made;
  llvm::LLVMContext& context = module->getContext();
  llvm::Type* f32 = llvm::Type::getFloatTy(context);
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::StructType* result = llvm::StructType::get(f32, i32);
  llvm::Function* function =
      llvm::Function::Create(llvm::FunctionType::get(result, {f32}, false),
                             llvm::GlobalValue::InternalLinkage, kName, module);
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  llvm::GlobalVariable* digits = Digits(module);

  Value* x = function->getArg(0);
  Value* bits = b.CreateAnd(b.CreateBitCast(x, i32), 0x7fffffff);
  Value* mantissa =
      b.CreateZExt(b.CreateOr(b.CreateAnd(bits, 0x7fffff), 0x800000), i64);
  Value* exponent = b.CreateLShr(bits, 23);
  // x is mantissa * 2^(exponent - 150). The first digit that counts is the one
  // whose product with it is two quarter turns.
  Value* position = b.CreateSub(exponent, b.getInt32(120));
  Value* is_number = b.CreateICmpNE(exponent, b.getInt32(0xff));
  // The result of other lanes is not used, but they must stay in the table.
  position = b.CreateSelect(b.CreateICmpULT(position, b.getInt32(0xff - 120)),
                            position, b.getInt32(0));
  Value* word = b.CreateZExt(b.CreateLShr(position, 5), i64);
  Value* shift = b.CreateZExt(b.CreateAnd(position, 31), i64);
  const auto digit = [&](int i) {
    Value* at =
        b.CreateInBoundsGEP(digits->getValueType(), digits,
                            {b.getInt64(0), b.CreateAdd(word, b.getInt64(i))});
    return b.CreateZExt(b.CreateLoad(i32, at), i64);
  };
  // 32 bits from the position on, and those after them.
  const auto window = [&](int i) {
    Value* two = b.CreateOr(b.CreateShl(digit(i), 32), digit(i + 1));
    return b.CreateLShr(b.CreateShl(two, shift), 32);
  };
  Value* low = b.CreateMul(mantissa, window(2));
  Value* middle =
      b.CreateAdd(b.CreateMul(mantissa, window(1)), b.CreateLShr(low, 32));
  Value* high =
      b.CreateAdd(b.CreateMul(mantissa, window(0)), b.CreateLShr(middle, 32));
  // Quarter turns in units of 2^-62.
  Value* turns =
      b.CreateOr(b.CreateShl(high, 32), b.CreateAnd(middle, 0xffffffff));
  Value* quadrant = b.CreateTrunc(
      b.CreateLShr(b.CreateAdd(turns, b.getInt64(int64_t{1} << 61)), 62), i32);
  Value* rest = b.CreateSIToFP(b.CreateShl(turns, 2), b.getDoubleTy());
  rest = b.CreateFMul(
      rest, llvm::ConstantFP::get(b.getDoubleTy(), 0x1.921fb54442d18p-64));
  rest = b.CreateFPTrunc(rest, f32);

  Value* negative = b.CreateICmpSLT(b.CreateBitCast(x, i32), b.getInt32(0));
  rest = b.CreateSelect(negative, b.CreateFNeg(rest), rest);
  quadrant = b.CreateSelect(negative, b.CreateNeg(quadrant), quadrant);
  rest = b.CreateSelect(is_number, rest, llvm::ConstantFP::getNaN(f32));
  Value* both = llvm::PoisonValue::get(result);
  both = b.CreateInsertValue(both, rest, 0);
  b.CreateRet(b.CreateInsertValue(both, quadrant, 1));
  return function;
}

}  // namespace ingot::codegen
