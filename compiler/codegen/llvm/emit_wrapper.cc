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

class WrapperEmitter {
 public:
  WrapperEmitter(llvm::Function* function, llvm::Function* fail)
      : function_(function), fail_(fail), b_(function->getContext()) {
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

  llvm::IRBuilder<>& builder() { return b_; }

 private:
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
  llvm::StructType* any_type = AbiStruct(c, kAnyFields);
  llvm::StructType* tensor_type = AbiStruct(c, kTensorFields);
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

  const auto load = [&](llvm::Type* type, Value* tensor, unsigned index) {
    return b.CreateLoad(type, b.CreateStructGEP(tensor_type, tensor, index));
  };
  const auto field = [&](Value* tensor, unsigned index) {
    return load(tensor_type->getElementType(index), tensor, index);
  };
  std::vector<Value*> tensors, data, shapes;
  for (int p = 0; p < params; ++p) {
    const tir::BufferNode& buffer = *func.params[p];
    Value* any = b.CreateConstInBoundsGEP1_64(any_type, wrapper->getArg(1), p);
    Value* type =
        b.CreateLoad(i32, b.CreateStructGEP(any_type, any, kAnyTypeIndex));
    Value* tensor =
        b.CreateLoad(ptr, b.CreateStructGEP(any_type, any, kAnyValue));
    Value* is_object = b.CreateICmpEQ(type, b.getInt32(kTVMFFITensor));
    Value* is_plain = b.CreateICmpEQ(type, b.getInt32(kTVMFFIDLTensorPtr));
    w.Check(b.CreateNot(b.CreateOr(is_plain, is_object)), "TypeError",
            ArgumentTypeError(func, p));
    Value* skip = b.CreateSelect(is_object, b.getInt64(sizeof(TVMFFIObject)),
                                 b.getInt64(0));
    tensor = b.CreateGEP(b.getInt8Ty(), tensor, skip, buffer.name);
    // One branch for everything that the header says.
    Value* bad =
        b.CreateXor(field(tensor, kTensorDeviceType), b.getInt32(kDLCPU));
    bad = b.CreateOr(bad, b.CreateXor(field(tensor, kTensorNdim),
                                      b.getInt32(buffer.shape.size())));
    const bool big_endian = module_->getDataLayout().isBigEndian();
    bad = b.CreateOr(
        bad, b.CreateXor(load(i32, tensor, kTensorTypeCode),
                         b.getInt32(DtypeBits(buffer.dtype, big_endian))));
    w.Check(b.CreateIsNotNull(bad), "TypeError", ArgumentTypeError(func, p));
    tensors.push_back(tensor);
    data.push_back(b.CreateGEP(b.getInt8Ty(), field(tensor, kTensorData),
                               field(tensor, kTensorByteOffset)));
    shapes.push_back(field(tensor, kTensorShape));
  }

  const auto dimension = [&](int param, int dim) {
    return b.CreateLoad(i64,
                        b.CreateConstInBoundsGEP1_64(i64, shapes[param], dim));
  };
  std::vector<Value*> args = data;
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
