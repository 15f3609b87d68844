// The whole model, as other programs call it (main_function.h).
#include <string>
#include <vector>

#include "base/alignment.h"
#include "compiler/codegen/c_abi_fields.h"
#include "compiler/codegen/llvm/abi_types.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/codegen/llvm/module_emitter.h"
#include "compiler/codegen/llvm/wrapper_emitter.h"
#include "compiler/codegen/main_tensors.h"
#include "llvm/IR/Constants.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

}  // namespace

// int PREFIX_run(inputs…, outputs…, symbols…, void* arena)
llvm::Function* ModuleEmitter::EmitRun(const tir::PrimFunc& func,
                                       const Signature& signature,
                                       llvm::Function* kernel) {
  llvm::IRBuilder<> b(context());
  const std::vector<bool> given = GivenToMain(func, *main_);
  std::vector<llvm::Type*> types;
  for (const bool is_given : given) {
    if (is_given) types.push_back(b.getPtrTy());
  }
  types.resize(types.size() + signature.symbols.size(), b.getInt64Ty());
  types.push_back(b.getPtrTy());
  llvm::Function* run =
      NewFunction(llvm::FunctionType::get(b.getInt32Ty(), types, false),
                  MainRunSymbol(prefix_), true);
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(context(), name, run);
  };
  b.SetInsertPoint(block("entry"));
  Value* constants = nullptr;
  if (!main_->constants.empty()) {
    constants = new llvm::GlobalVariable(
        *module_, llvm::ArrayType::get(b.getInt8Ty(), 0), true,
        llvm::GlobalValue::ExternalWeakLinkage, nullptr, main_->constants);
    llvm::BasicBlock* missing = block("missing");
    llvm::BasicBlock* found = block("found");
    b.CreateCondBr(b.CreateIsNull(constants), missing, found);
    b.SetInsertPoint(missing);
    b.CreateRet(
        b.CreateCall(FailHelper(), {b.CreateGlobalStringPtr("RuntimeError"),
                                    b.CreateGlobalStringPtr(kNoConstants)}));
    b.SetInsertPoint(found);
  }
  std::vector<Value*> args;
  unsigned next = 0;
  for (size_t p = 0; p < given.size(); ++p) {
    const bool is_arena = main_->has_arena && p + 1 == given.size();
    args.push_back(given[p]   ? run->getArg(next++)
                   : is_arena ? run->getArg(run->arg_size() - 1)
                              : constants);
  }
  for (size_t i = 0; i < signature.symbols.size(); ++i) {
    args.push_back(run->getArg(next++));
  }
  llvm::CallInst* call = b.CreateCall(kernel, args);
  call->setTailCallKind(llvm::CallInst::TCK_NoTail);
  b.CreateRet(call);
  return run;
}

// int64_t PREFIX_arena_bytes(symbols…)
llvm::Function* ModuleEmitter::EmitArenaBytes(const tir::PrimFunc& func,
                                              const Signature& signature) {
  llvm::Type* i64 = llvm::Type::getInt64Ty(context());
  const std::vector<llvm::Type*> types(signature.symbols.size(), i64);
  llvm::Function* f = NewFunction(llvm::FunctionType::get(i64, types, false),
                                  MainArenaBytesSymbol(prefix_), true);
  KernelEmitter dims(this, llvm::BasicBlock::Create(context(), "entry", f));
  for (size_t i = 0; i < signature.symbols.size(); ++i) {
    dims.BindVar(signature.symbols[i].var, f->getArg(i));
  }
  Value* bytes = main_->has_arena ? dims.EmitExpr(func.params.back()->shape[0])
                                  : dims.builder().getInt64(0);
  dims.builder().CreateRet(bytes);
  return f;
}

// const char* PREFIX_last_error(void)
llvm::Function* ModuleEmitter::EmitLastError() {
  llvm::Type* ptr = llvm::PointerType::getUnqual(context());
  llvm::Function* f = NewFunction(llvm::FunctionType::get(ptr, {}, false),
                                  MainLastErrorSymbol(prefix_), true);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context(), "entry", f));
  b.CreateRet(b.CreateLoad(ptr, LastErrorVariable()));
  return f;
}

// const IngotModelInfo __ingot_model_info
void ModuleEmitter::EmitModelInfo(const tir::PrimFunc& func,
                                  llvm::Function* run,
                                  llvm::Function* last_error) {
  llvm::IRBuilder<> b(context());
  llvm::Constant* null = llvm::ConstantPointerNull::get(b.getPtrTy());
  const auto variable = [this](llvm::Constant* value) {
    return new llvm::GlobalVariable(*module_, value->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, value);
  };
  llvm::StructType* info_type = AbiStruct(context(), kTensorInfoFields);
  std::vector<llvm::Constant*> tensors;
  for (const MainTensor& t : TensorsOfMain(func, *main_)) {
    llvm::Constant* info[] = {
        variable(llvm::ConstantDataArray::getString(context(), t.name)),
        t.shape.empty()
            ? null
            : variable(llvm::ConstantDataArray::get(context(), t.shape)),
        b.getInt32(t.shape.size()),
        b.getInt8(t.dtype.code),
        b.getInt8(t.dtype.bits),
        b.getInt16(t.dtype.lanes)};
    tensors.push_back(llvm::ConstantStruct::get(info_type, info));
  }
  llvm::Constant* shapes = null;
  if (!main_->output_shapes.empty()) {
    shapes = llvm::cast<llvm::Constant>(
        module_
            ->getOrInsertFunction(
                INGOT_FFI_SYMBOL_PREFIX + main_->output_shapes,
                run->getFunctionType())
            .getCallee());
  }
  llvm::Constant* model[] = {
      b.getInt32(INGOT_MODEL_INFO_VERSION),
      b.getInt32(main_->inputs.size()),
      b.getInt32(main_->outputs.size()),
      variable(llvm::ConstantArray::get(
          llvm::ArrayType::get(info_type, tensors.size()), tensors)),
      run,
      shapes,
      last_error};
  llvm::StructType* type = AbiStruct(context(), kModelInfoFields);
  new llvm::GlobalVariable(
      *module_, type, true, llvm::GlobalValue::ExternalLinkage,
      llvm::ConstantStruct::get(type, model), INGOT_MODEL_INFO_SYMBOL);
}

void ModuleEmitter::EmitMain(const tir::PrimFunc& func,
                             const Signature& signature,
                             llvm::Function* kernel) {
  llvm::Function* run = EmitRun(func, signature, kernel);
  llvm::Function* arena_bytes = EmitArenaBytes(func, signature);
  llvm::Function* last_error = EmitLastError();
  if (machine_.is_wasm) return;

  WrapperEmitter w(this, std::string(INGOT_FFI_SYMBOL_PREFIX) + "main");
  const WrapperEmitter::Arguments arguments =
      w.Read(func, signature, GivenToMain(func, *main_));
  w.CheckDense(func, arguments);
  llvm::IRBuilder<>& b = w.builder();
  llvm::Type* ptr = b.getPtrTy();
  llvm::Type* i64 = b.getInt64Ty();
  // An arena of its own, at a multiple of kAlignment.
  Value* bytes = b.CreateAdd(b.CreateCall(arena_bytes, arguments.symbols),
                             b.getInt64(kAlignment));
  Value* memory =
      b.CreateCall(module_->getOrInsertFunction(
                       "malloc", llvm::FunctionType::get(ptr, {i64}, false)),
                   {bytes});
  w.Check(b.CreateIsNull(memory), "MemoryError", kNoMemory);
  Value* past = b.CreateAnd(b.CreatePtrToInt(memory, i64), kAlignment - 1);
  Value* aligned = b.CreateGEP(b.getInt8Ty(), memory,
                               b.CreateSub(b.getInt64(kAlignment), past));
  std::vector<Value*> args;
  for (Value* data : arguments.data) {
    if (data != nullptr) args.push_back(data);
  }
  args.insert(args.end(), arguments.symbols.begin(), arguments.symbols.end());
  args.push_back(aligned);
  Value* error = b.CreateCall(run, args);
  b.CreateCall(
      module_->getOrInsertFunction(
          "free", llvm::FunctionType::get(b.getVoidTy(), {ptr}, false)),
      {memory});
  b.CreateRet(error);
  EmitModelInfo(func, w.function(), last_error);
}

}  // namespace ingot::codegen
