// The exported function of a kernel: the C ABI's arguments in, checked.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/codegen/c_abi_fields.h"
#include "compiler/codegen/llvm/abi_types.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/module_emitter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/MDBuilder.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// A DLDataType as the one integer that its four bytes are.
uint32_t DtypeBits(DataType t, bool big_endian) {
  if (big_endian) {
    return static_cast<uint32_t>(t.code) << 24 | uint32_t{t.bits} << 16 |
           t.lanes;
  }
  return t.code | uint32_t{t.bits} << 8 | uint32_t{t.lanes} << 16;
}

// A tensor, as a kernel needs it.
struct Argument {
  Value* data;
  Value* shape;
};

class WrapperEmitter {
 public:
  WrapperEmitter(llvm::Function* function, llvm::Function* fail)
      : function_(function),
        fail_(fail),
        b_(function->getContext()),
        any_type_(AbiStruct(b_.getContext(), kAnyFields)),
        tensor_type_(AbiStruct(b_.getContext(), kTensorFields)) {
    b_.SetInsertPoint(NewBlock("entry"));
    fail_block_ = NewBlock("fail");
    llvm::IRBuilder<> in_fail(fail_block_);
    kind_ = in_fail.CreatePHI(b_.getPtrTy(), 4, "kind");
    message_ = in_fail.CreatePHI(b_.getPtrTy(), 4, "message");
    in_fail.CreateRet(in_fail.CreateCall(fail_, {kind_, message_}));
  }

  // Goes on where `bad` is false.
  void Check(Value* bad, const char* kind, const std::string& message) {
    llvm::BasicBlock* next = NewBlock("ok");
    kind_->addIncoming(Text(kind), b_.GetInsertBlock());
    message_->addIncoming(Text(message), b_.GetInsertBlock());
    b_.CreateCondBr(
        bad, fail_block_, next,
        llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
    b_.SetInsertPoint(next);
  }

  // Parameter `p` of the function, whose arguments are the second of the
  // wrapper's own. The code leaves the wrapper where the argument is no tensor
  // on a CPU, or of another type or rank.
  Argument ReadArgument(const tir::PrimFunc& func, int p) {
    const tir::BufferNode& buffer = *func.params[p];
    Value* any =
        b_.CreateConstInBoundsGEP1_64(any_type_, function_->getArg(1), p);
    Value* type = b_.CreateLoad(
        b_.getInt32Ty(), b_.CreateStructGEP(any_type_, any, kAnyTypeIndex));
    Value* tensor = b_.CreateLoad(
        b_.getPtrTy(), b_.CreateStructGEP(any_type_, any, kAnyValue));
    Value* is_object = b_.CreateICmpEQ(type, b_.getInt32(kTVMFFITensor));
    Value* is_plain = b_.CreateICmpEQ(type, b_.getInt32(kTVMFFIDLTensorPtr));
    Check(b_.CreateNot(b_.CreateOr(is_plain, is_object)), "TypeError",
          ArgumentTypeError(func, p));
    Value* skip = b_.CreateSelect(is_object, b_.getInt64(sizeof(TVMFFIObject)),
                                  b_.getInt64(0));
    tensor = b_.CreateGEP(b_.getInt8Ty(), tensor, skip, buffer.name);
    // One branch for everything that the header says.
    Value* bad =
        b_.CreateXor(Field(tensor, kTensorDeviceType), b_.getInt32(kDLCPU));
    bad = b_.CreateOr(bad, b_.CreateXor(Field(tensor, kTensorNdim),
                                        b_.getInt32(buffer.shape.size())));
    const bool big_endian =
        function_->getParent()->getDataLayout().isBigEndian();
    bad = b_.CreateOr(
        bad, b_.CreateXor(LoadAt(b_.getInt32Ty(), tensor, kTensorTypeCode),
                          b_.getInt32(DtypeBits(buffer.dtype, big_endian))));
    Check(b_.CreateIsNotNull(bad), "TypeError", ArgumentTypeError(func, p));
    Value* data = b_.CreateGEP(b_.getInt8Ty(), Field(tensor, kTensorData),
                               Field(tensor, kTensorByteOffset));
    return {data, Field(tensor, kTensorShape)};
  }

  llvm::IRBuilder<>& builder() { return b_; }

 private:
  Value* LoadAt(llvm::Type* type, Value* tensor, unsigned index) {
    return b_.CreateLoad(type, b_.CreateStructGEP(tensor_type_, tensor, index));
  }
  Value* Field(Value* tensor, unsigned index) {
    return LoadAt(tensor_type_->getElementType(index), tensor, index);
  }
  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function_);
  }
  llvm::Constant* Text(const std::string& text) {
    llvm::Constant*& known = texts_[text];
    if (known == nullptr) {
      known = b_.CreateGlobalStringPtr(text, "text", 0, function_->getParent());
    }
    return known;
  }

  llvm::Function* const function_;
  llvm::Function* const fail_;
  llvm::IRBuilder<> b_;
  llvm::StructType* const any_type_;
  llvm::StructType* const tensor_type_;
  llvm::BasicBlock* fail_block_;
  llvm::PHINode* kind_;
  llvm::PHINode* message_;
  std::map<std::string, llvm::Constant*> texts_;
};

}  // namespace

void ModuleEmitter::EmitWrapper(const tir::PrimFunc& func,
                                const Signature& signature,
                                llvm::Function* kernel) {
  llvm::LLVMContext& c = context();
  llvm::Type* ptr = llvm::PointerType::getUnqual(c);
  llvm::Type* i32 = llvm::Type::getInt32Ty(c);
  llvm::Type* i64 = llvm::Type::getInt64Ty(c);
  llvm::Function* wrapper =
      NewFunction(llvm::FunctionType::get(i32, {ptr, ptr, i32, ptr}, false),
                  INGOT_FFI_SYMBOL_PREFIX + func.name, true);
  const char* names[] = {"self", "args", "num_args", "result"};
  for (int i = 0; i < 4; ++i) wrapper->getArg(i)->setName(names[i]);

  WrapperEmitter w(wrapper, FailHelper());
  llvm::IRBuilder<>& b = w.builder();
  const int params = static_cast<int>(func.params.size());
  w.Check(b.CreateICmpNE(wrapper->getArg(2), b.getInt32(params)), "TypeError",
          ArgumentCountError(func));

  std::vector<Value*> args, shapes;
  for (int p = 0; p < params; ++p) {
    const Argument argument = w.ReadArgument(func, p);
    args.push_back(argument.data);
    shapes.push_back(argument.shape);
  }

  const auto dimension = [&](int param, int dim) {
    return b.CreateLoad(i64,
                        b.CreateConstInBoundsGEP1_64(i64, shapes[param], dim));
  };
  // Evaluates dimensions that are expressions of symbols.
  KernelEmitter symbols(this, b.GetInsertBlock());
  for (const DimBinding& symbol : signature.symbols) {
    args.push_back(dimension(symbol.param, symbol.dim));
    symbols.BindVar(symbol.var, args.back());
  }
  std::vector<Value*> mismatch(params, nullptr);
  for (const DimCheck& check : signature.checks) {
    symbols.builder().SetInsertPoint(b.GetInsertBlock());
    Value* expected = symbols.EmitExpr(check.value);
    b.SetInsertPoint(symbols.builder().GetInsertBlock());
    Value* differs = b.CreateXor(dimension(check.param, check.dim), expected);
    Value*& sum = mismatch[check.param];
    sum = sum == nullptr ? differs : b.CreateOr(sum, differs);
  }
  for (int p = 0; p < params; ++p) {
    if (mismatch[p] == nullptr) continue;
    w.Check(b.CreateIsNotNull(mismatch[p]), "ValueError",
            ArgumentShapeError(func, p));
  }
  llvm::CallInst* call = b.CreateCall(kernel, args);
  call->setTailCallKind(llvm::CallInst::TCK_NoTail);
  b.CreateRet(call);
}

}  // namespace ingot::codegen
