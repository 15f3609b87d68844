#include "compiler/codegen/llvm/math.h"

#include "compiler/codegen/llvm/math_f32.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

namespace ingot::codegen {
namespace {

using llvm::ConstantFP;
using llvm::Type;
using llvm::Value;

// Calls the C library's function of the type, once per lane.
Value* CallLibm(llvm::IRBuilder<>& b, const std::string& name,
                const std::vector<Value*>& args) {
  Type* type = args[0]->getType();
  Type* element = type->getScalarType();
  const std::string symbol = element->isDoubleTy() ? name : name + "f";
  llvm::Module* module = b.GetInsertBlock()->getModule();
  std::vector<Type*> params(args.size(), element);
  llvm::FunctionCallee callee = module->getOrInsertFunction(
      symbol, llvm::FunctionType::get(element, params, false));
  if (auto* function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotThrow();
    function->setWillReturn();
    // Nobody looks at errno, nor changes the rounding mode.
    function->setDoesNotAccessMemory();
  }
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return b.CreateCall(callee, args);
  Value* result = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    std::vector<Value*> scalars;
    for (Value* arg : args) {
      scalars.push_back(b.CreateExtractElement(arg, lane));
    }
    result = b.CreateInsertElement(result, b.CreateCall(callee, scalars), lane);
  }
  return result;
}

// x to a small integer power by multiplication; null for others.
Value* PowByConstant(llvm::IRBuilder<>& b, Value* x, Value* y) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(y);
  if (constant == nullptr) return nullptr;
  if (y->getType()->isVectorTy()) constant = constant->getSplatValue();
  auto* value = llvm::dyn_cast_or_null<ConstantFP>(constant);
  if (value == nullptr) return nullptr;
  if (value->isExactlyValue(1.0)) return x;
  if (value->isExactlyValue(2.0)) return b.CreateFMul(x, x);
  if (value->isExactlyValue(3.0)) return b.CreateFMul(b.CreateFMul(x, x), x);
  if (value->isExactlyValue(-1.0)) {
    return b.CreateFDiv(ConstantFP::get(x->getType(), 1.0), x);
  }
  return nullptr;
}

// The functions that LLVM has instructions or intrinsics for; not_intrinsic
// otherwise.
llvm::Intrinsic::ID UnaryIntrinsic(const Machine& m, tir::Intrinsic f) {
  switch (f) {
    case tir::Intrinsic::kSqrt:
      return llvm::Intrinsic::sqrt;
    case tir::Intrinsic::kFloor:
      return llvm::Intrinsic::floor;
    case tir::Intrinsic::kCeil:
      return llvm::Intrinsic::ceil;
    case tir::Intrinsic::kTrunc:
      return llvm::Intrinsic::trunc;
    case tir::Intrinsic::kAbs:
      return llvm::Intrinsic::fabs;
    case tir::Intrinsic::kRound:
      // The same unless somebody changes the rounding mode, and every C
      // library has it, where the machine has no instruction.
      return m.has_round ? llvm::Intrinsic::roundeven : llvm::Intrinsic::rint;
    default:
      return llvm::Intrinsic::not_intrinsic;
  }
}

}  // namespace

Value* EmitIntrinsic(llvm::IRBuilder<>& b, const Machine& m,
                     tir::Intrinsic intrinsic,
                     const std::vector<Value*>& args) {
  Value* x = args[0];
  Type* type = x->getType();
  const llvm::Intrinsic::ID id = UnaryIntrinsic(m, intrinsic);
  if (id != llvm::Intrinsic::not_intrinsic) {
    return b.CreateUnaryIntrinsic(id, x);
  }
  const bool is_f32 = type->getScalarType()->isFloatTy();
  switch (intrinsic) {
    case tir::Intrinsic::kRsqrt:
      return b.CreateFDiv(ConstantFP::get(type, 1.0),
                          b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case tir::Intrinsic::kIsNan:
      return b.CreateFCmpUNO(x, x);
    case tir::Intrinsic::kIsInf:
      return b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                             ConstantFP::getInfinity(type));
    case tir::Intrinsic::kMulAdd:
      return EmitMulAdd(b, m, x, args[1], args[2]);
    case tir::Intrinsic::kPow:
      if (!m.reproducible) {
        if (Value* product = PowByConstant(b, x, args[1])) return product;
      }
      if (is_f32) return Pow32(b, m, x, args[1]);
      break;
    case tir::Intrinsic::kExp:
      if (is_f32) return Exp32(b, m, x);
      break;
    case tir::Intrinsic::kLog:
      if (is_f32) return Log32(b, m, x);
      break;
    case tir::Intrinsic::kTanh:
      if (is_f32) return Tanh32(b, m, x);
      break;
    case tir::Intrinsic::kErf:
      if (is_f32) return Erf32(b, m, x);
      break;
    case tir::Intrinsic::kAtan:
      if (is_f32) return Atan32(b, m, x);
      break;
    case tir::Intrinsic::kAsinh:
      if (is_f32) return Asinh32(b, m, x);
      break;
    case tir::Intrinsic::kFmod:
      if (is_f32) return Fmod32(b, m, x, args[1]);
      break;
    case tir::Intrinsic::kSin:
    case tir::Intrinsic::kCos:
      if (is_f32) {
        return SinCos32(b, m, intrinsic == tir::Intrinsic::kCos, x);
      }
      break;
    default:
      break;
  }
  const absl::string_view name = tir::IntrinsicName(intrinsic);
  return CallLibm(b, std::string(name), args);
}

}  // namespace ingot::codegen
