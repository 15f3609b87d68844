// A product with a sum, which machines do in one instruction.
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/float_bits.h"
#include "compiler/codegen/llvm/float_math.h"
#include "compiler/codegen/llvm/math.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

namespace ingot::codegen {
namespace {

using llvm::Type;
using llvm::Value;

// x * y + z of floats rounded once, without an instruction for it: in doubles,
// where the product is exact, and so is the sum but for its last bit, which is
// made odd where something is lost. (S. Boldo and G. Melquiond, Emulation of a
// FMA and correctly rounded sums, 2008.)
Value* EmulatedMulAdd(llvm::IRBuilder<>& b, const Machine& m, Value* x,
                      Value* y, Value* z) {
  Type* f64 = TypeLike(b.getDoubleTy(), x);
  Value* product = b.CreateFPExt(x, f64);
  FloatMath d(b, m, product);
  product = d.Mul(product, b.CreateFPExt(y, f64));
  Value* term = b.CreateFPExt(z, f64);
  Value* sum = d.Add(product, term);
  Value* of_term = d.Sub(sum, product);
  Value* lost =
      d.Add(d.Sub(product, d.Sub(sum, of_term)), d.Sub(term, of_term));
  Value* bits = d.Bits(sum);
  // Neither where nothing is lost nor where the sum is no number.
  Value* is_inexact = b.CreateFCmpONE(lost, d.C(0.0));
  Value* is_even = b.CreateICmpEQ(b.CreateAnd(bits, d.I(1)), d.I(0));
  Value* grows =
      b.CreateICmpEQ(d.Greater(lost, d.C(0.0)), d.Greater(sum, d.C(0.0)));
  Value* odd = b.CreateAdd(bits, b.CreateSelect(grows, d.I(1), d.I(-1)));
  bits = b.CreateSelect(b.CreateAnd(is_inexact, is_even), odd, bits);
  return b.CreateFPTrunc(d.FromBits(bits), x->getType());
}

// The same as a function of the module, one for each type: a kernel has many,
// and in line they would be most of its code and of the time to compile it.
llvm::Function* MulAddFunction(const llvm::IRBuilder<>& caller,
                               const Machine& m, Type* type) {
  llvm::Function* const user = caller.GetInsertBlock()->getParent();
  llvm::Module* const module = user->getParent();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const std::string name =
      absl::StrCat("mul_add_f32x", vector ? vector->getNumElements() : 1);
  if (llvm::Function* made = module->getFunction(name)) return made;
  llvm::Function* const function = llvm::Function::Create(
      llvm::FunctionType::get(type, {type, type, type}, false),
      llvm::Function::InternalLinkage, name, module);
  function->addFnAttrs(llvm::AttrBuilder(module->getContext(),
                                         user->getAttributes().getFnAttrs()));
  function->addFnAttr(llvm::Attribute::NoInline);
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  function->setCallingConv(llvm::CallingConv::Fast);
  llvm::IRBuilder<> b(
      llvm::BasicBlock::Create(module->getContext(), "", function));
  b.CreateRet(EmulatedMulAdd(b, m, function->getArg(0), function->getArg(1),
                             function->getArg(2)));
  return function;
}

Value* CallMulAdd(llvm::IRBuilder<>& b, const Machine& m, Value* x, Value* y,
                  Value* z) {
  llvm::CallInst* const call =
      b.CreateCall(MulAddFunction(b, m, x->getType()), {x, y, z});
  call->setCallingConv(llvm::CallingConv::Fast);
  return call;
}

}  // namespace

Value* EmitMulAdd(llvm::IRBuilder<>& b, const Machine& m, Value* x, Value* y,
                  Value* z) {
  const bool is_f32 = x->getType()->getScalarType()->isFloatTy();
  if (m.has_fma && (is_f32 || !m.reproducible)) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
  }
  if (m.reproducible && is_f32) return CallMulAdd(b, m, x, y, z);
  return b.CreateFAdd(b.CreateFMul(x, y), z);
}

}  // namespace ingot::codegen
