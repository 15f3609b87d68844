#include "compiler/codegen/llvm/wrapper_emitter.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "compiler/codegen/c_abi_fields.h"
#include "compiler/codegen/llvm/abi_types.h"
#include "compiler/codegen/llvm/compile_module.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "llvm/IR/MDBuilder.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// LLVM's optimizations take time that grows with the square of a wrapper's
// checks, and memory too: minutes and gigabytes for a thousand arguments.
constexpr int kMostOptimizedArguments = 100;

// A DLDataType as the one integer that its four bytes are.
uint32_t DtypeBits(DataType t, bool big_endian) {
  if (big_endian) {
    return static_cast<uint32_t>(t.code) << 24 | uint32_t{t.bits} << 16 |
           t.lanes;
  }
  return t.code | uint32_t{t.bits} << 8 | uint32_t{t.lanes} << 16;
}

// So many dimensions of a shape are compared at once.
constexpr size_t kDimsAtOnce = 4;

// Returns the constants that they have to be, if so many follow from `first`
// on; else nothing.
std::vector<uint64_t> DimsAtOnce(absl::Span<const DimCheck> checks,
                                 size_t first) {
  std::vector<uint64_t> dims;
  if (checks.size() - first < kDimsAtOnce) return dims;
  for (const DimCheck& check : checks.subspan(first, kDimsAtOnce)) {
    int64_t dim = 0;
    if (check.param != checks[first].param ||
        check.dim != checks[first].dim + static_cast<int>(dims.size()) ||
        !tir::AsConstInt(check.value, &dim)) {
      return {};
    }
    dims.push_back(static_cast<uint64_t>(dim));
  }
  return dims;
}

llvm::Function* NewWrapper(ModuleEmitter* module, const std::string& name) {
  llvm::LLVMContext& c = module->context();
  llvm::Type* ptr = llvm::PointerType::getUnqual(c);
  llvm::Type* i32 = llvm::Type::getInt32Ty(c);
  llvm::Function* wrapper = module->NewFunction(
      llvm::FunctionType::get(i32, {ptr, ptr, i32, ptr}, false), name, true);
  const char* names[] = {"self", "args", "num_args", "result"};
  for (int i = 0; i < 4; ++i) wrapper->getArg(i)->setName(names[i]);
  return wrapper;
}

}  // namespace

WrapperEmitter::WrapperEmitter(ModuleEmitter* module, const std::string& name)
    : module_(module),
      function_(NewWrapper(module, name)),
      b_(module->context()),
      any_type_(AbiStruct(b_.getContext(), kAnyFields)),
      tensor_type_(AbiStruct(b_.getContext(), kTensorFields)) {
  b_.SetInsertPoint(NewBlock("entry"));
  fail_block_ = NewBlock("fail");
  llvm::IRBuilder<> in_fail(fail_block_);
  kind_ = in_fail.CreatePHI(b_.getPtrTy(), 4, "kind");
  message_ = in_fail.CreatePHI(b_.getPtrTy(), 4, "message");
  in_fail.CreateRet(
      in_fail.CreateCall(module->FailHelper(), {kind_, message_}));
}

void WrapperEmitter::Check(Value* bad, const char* kind,
                           const std::string& message) {
  llvm::BasicBlock* next = NewBlock("ok");
  kind_->addIncoming(Text(kind), b_.GetInsertBlock());
  message_->addIncoming(Text(message), b_.GetInsertBlock());
  b_.CreateCondBr(
      bad, fail_block_, next,
      llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(next);
}

// The code leaves the wrapper where the argument is no tensor on a CPU, or of
// another type or rank.
WrapperEmitter::Tensor WrapperEmitter::ReadTensor(const tir::PrimFunc& func,
                                                  int p, int argument) {
  const tir::BufferNode& buffer = *func.params[p];
  Value* any =
      b_.CreateConstInBoundsGEP1_64(any_type_, function_->getArg(1), argument);
  Value* type = b_.CreateLoad(
      b_.getInt32Ty(), b_.CreateStructGEP(any_type_, any, kAnyTypeIndex));
  Value* tensor = b_.CreateLoad(b_.getPtrTy(),
                                b_.CreateStructGEP(any_type_, any, kAnyValue));
  Value* is_object = b_.CreateICmpEQ(type, b_.getInt32(kTVMFFITensor));
  Value* is_plain = b_.CreateICmpEQ(type, b_.getInt32(kTVMFFIDLTensorPtr));
  llvm::BasicBlock* const other = NewBlock("other");
  llvm::BasicBlock* const checked = NewBlock("tensor");
  b_.CreateCondBr(is_object, checked, other);
  b_.SetInsertPoint(other);
  Check(b_.CreateNot(is_plain), "TypeError",
        ArgumentTypeError(func, p, argument));
  b_.CreateBr(checked);
  b_.SetInsertPoint(checked);
  Value* skip = b_.CreateSelect(is_object, b_.getInt64(sizeof(TVMFFIObject)),
                                b_.getInt64(0));
  tensor = b_.CreateGEP(b_.getInt8Ty(), tensor, skip, buffer.name);
  Check(b_.CreateICmpNE(Field(tensor, kTensorDeviceType), b_.getInt32(kDLCPU)),
        "TypeError", ArgumentTypeError(func, p, argument));
  // Not both at once: a load of what two stores have just written waits for
  // them, and each run describes tensors of open sizes.
  Check(b_.CreateICmpNE(Field(tensor, kTensorNdim),
                        b_.getInt32(buffer.shape.size())),
        "TypeError", ArgumentTypeError(func, p, argument));
  const bool big_endian = function_->getParent()->getDataLayout().isBigEndian();
  Check(b_.CreateICmpNE(LoadAt(b_.getInt32Ty(), tensor, kTensorTypeCode),
                        b_.getInt32(DtypeBits(buffer.dtype, big_endian))),
        "TypeError", ArgumentTypeError(func, p, argument));
  Value* data = b_.CreateGEP(b_.getInt8Ty(), Field(tensor, kTensorData),
                             Field(tensor, kTensorByteOffset));
  return {tensor, data, Field(tensor, kTensorShape)};
}

WrapperEmitter::Arguments WrapperEmitter::Read(const tir::PrimFunc& func,
                                               const Signature& signature,
                                               const std::vector<bool>& given) {
  const int count =
      static_cast<int>(std::count(given.begin(), given.end(), true));
  Check(b_.CreateICmpNE(function_->getArg(2), b_.getInt32(count)), "TypeError",
        ArgumentCountError(func, count));
  if (count > kMostOptimizedArguments) {
    function_->addFnAttr(llvm::Attribute::OptimizeNone);
    function_->addFnAttr(llvm::Attribute::NoInline);
  }
  const int params = static_cast<int>(func.params.size());
  Arguments arguments;
  std::vector<Value*> shapes(params, nullptr);
  arguments.data.resize(params, nullptr);
  arguments.tensors.resize(params, nullptr);
  int next = 0;
  for (int p = 0; p < params; ++p) {
    if (!given[p]) continue;
    const Tensor tensor = ReadTensor(func, p, next++);
    arguments.data[p] = tensor.data;
    arguments.tensors[p] = tensor.self;
    shapes[p] = tensor.shape;
  }

  const auto dimension = [&](int param, int dim, llvm::Type* type) {
    Value* at =
        b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), shapes[param], dim);
    return b_.CreateAlignedLoad(type, at, llvm::Align(8));
  };
  // Evaluates dimensions that are expressions of symbols.
  KernelEmitter symbols(module_, b_.GetInsertBlock());
  for (const DimBinding& symbol : signature.symbols) {
    arguments.symbols.push_back(
        dimension(symbol.param, symbol.dim, b_.getInt64Ty()));
    symbols.BindVar(symbol.var, arguments.symbols.back());
  }
  std::vector<Value*> mismatch(params, nullptr);
  for (size_t i = 0; i < signature.checks.size(); ++i) {
    const DimCheck& check = signature.checks[i];
    if (!given[check.param]) continue;
    std::vector<uint64_t> dims;
    if (signature.symbols.empty()) dims = DimsAtOnce(signature.checks, i);
    Value* expected = nullptr;
    if (!dims.empty()) {
      expected = llvm::ConstantDataVector::get(b_.getContext(), dims);
      i += dims.size() - 1;
    } else {
      symbols.builder().SetInsertPoint(b_.GetInsertBlock());
      expected = symbols.EmitExpr(check.value);
      b_.SetInsertPoint(symbols.builder().GetInsertBlock());
    }
    Value* differs = b_.CreateXor(
        dimension(check.param, check.dim, expected->getType()), expected);
    if (!dims.empty()) differs = b_.CreateOrReduce(differs);
    Value*& sum = mismatch[check.param];
    sum = sum == nullptr ? differs : b_.CreateOr(sum, differs);
  }
  const auto arguments_before = [&given](int p) {
    return static_cast<int>(std::count(given.begin(), given.begin() + p, true));
  };
  for (int p = 0; p < params; ++p) {
    if (mismatch[p] == nullptr) continue;
    Check(b_.CreateIsNotNull(mismatch[p]), "ValueError",
          ArgumentShapeError(func, p, arguments_before(p)));
  }
  return arguments;
}

void WrapperEmitter::CheckDense(const tir::PrimFunc& func,
                                const Arguments& arguments) {
  llvm::Type* i64 = b_.getInt64Ty();
  int argument = 0;
  for (size_t p = 0; p < arguments.tensors.size(); ++p) {
    Value* tensor = arguments.tensors[p];
    if (tensor == nullptr) continue;
    // Without strides a tensor is dense. Reading its shape in their place, of
    // which the values do not matter then, needs no branch.
    Value* shape = Field(tensor, kTensorShape);
    Value* strides = Field(tensor, kTensorStrides);
    Value* has_strides = b_.CreateIsNotNull(strides);
    strides = b_.CreateSelect(has_strides, strides, shape);
    Value* bad = b_.getFalse();
    Value* expected = b_.getInt64(1);
    for (size_t d = func.params[p]->shape.size(); d-- > 0;) {
      const auto element = [&](Value* list) {
        return b_.CreateLoad(i64, b_.CreateConstInBoundsGEP1_64(i64, list, d));
      };
      Value* extent = element(shape);
      // A dimension of 1 is never stepped along.
      Value* steps = b_.CreateICmpNE(extent, b_.getInt64(1));
      Value* differs = b_.CreateICmpNE(element(strides), expected);
      bad = b_.CreateOr(bad, b_.CreateAnd(steps, differs));
      expected = b_.CreateMul(expected, extent);
    }
    // Nor is anything stepped along without elements.
    bad = b_.CreateAnd(bad, b_.CreateICmpNE(expected, b_.getInt64(0)));
    Check(b_.CreateAnd(has_strides, bad), "ValueError",
          ArgumentDenseError(func, static_cast<int>(p), argument++));
  }
}

Value* WrapperEmitter::LoadAt(llvm::Type* type, Value* tensor, unsigned index) {
  return b_.CreateLoad(type, b_.CreateStructGEP(tensor_type_, tensor, index));
}

Value* WrapperEmitter::Field(Value* tensor, unsigned index) {
  return LoadAt(tensor_type_->getElementType(index), tensor, index);
}

llvm::BasicBlock* WrapperEmitter::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(b_.getContext(), name, function_);
}

llvm::Constant* WrapperEmitter::Text(const std::string& text) {
  llvm::Constant*& known = texts_[text];
  if (known == nullptr) {
    known = b_.CreateGlobalStringPtr(text, "text", 0, function_->getParent());
  }
  return known;
}

void ModuleEmitter::EmitWrapper(const tir::PrimFunc& func,
                                const Signature& signature,
                                llvm::Function* kernel) {
  WrapperEmitter w(this, INGOT_FFI_SYMBOL_PREFIX + func.name);
  const WrapperEmitter::Arguments arguments =
      w.Read(func, signature, std::vector<bool>(func.params.size(), true));
  // Sizes that are made of symbols have parts in common.
  if (signature.symbols.empty() &&
      !w.function()->hasFnAttribute(llvm::Attribute::OptimizeNone)) {
    w.function()->addFnAttr(kStaysAsEmitted);
  }
  std::vector<Value*> args = arguments.data;
  args.insert(args.end(), arguments.symbols.begin(), arguments.symbols.end());
  llvm::CallInst* call = w.builder().CreateCall(kernel, args);
  call->setTailCallKind(llvm::CallInst::TCK_NoTail);
  w.builder().CreateRet(call);
}

}  // namespace ingot::codegen
