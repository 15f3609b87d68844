#include "compiler/codegen/llvm/module_emitter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/codegen/c_abi_fields.h"
#include "compiler/codegen/llvm/abi_types.h"
#include "compiler/codegen/llvm/kernel_emitter.h"
#include "compiler/tir/typing.h"
#include "compiler/tir/visitor.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/MDBuilder.h"

namespace ingot::codegen {
namespace {

using llvm::Value;

// The types that a kernel may use must be ones that values can have.
absl::Status CheckTypes(const tir::PrimFunc& func) {
  for (const tir::Buffer& buffer : func.params) {
    if (!tir::IsValueType(buffer->dtype) || buffer->dtype.lanes != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel ", func.name, ": parameter ", buffer->name,
                       " has elements of type ", buffer->dtype.ToString()));
    }
  }
  return absl::OkStatus();
}

// The constant number of bytes of a buffer; 0 when symbolic.
uint64_t ConstantBytes(const tir::BufferNode& buffer) {
  int64_t bytes = buffer.dtype.bytes();
  for (const tir::Expr& dim : buffer.shape) {
    int64_t n = 0;
    if (!tir::AsConstInt(dim, &n) || n <= 0 ||
        __builtin_mul_overflow(bytes, n, &bytes)) {
      return 0;
    }
  }
  return static_cast<uint64_t>(bytes);
}

}  // namespace

void SetBufferAttributes(llvm::Function* function, unsigned arg,
                         const tir::BufferNode& buffer, bool read_only) {
  llvm::Argument* a = function->getArg(arg);
  llvm::AttrBuilder attributes(function->getContext());
  attributes.addAttribute(llvm::Attribute::NoAlias);
  attributes.addAttribute(llvm::Attribute::NoCapture);
  attributes.addAttribute(llvm::Attribute::NoUndef);
  attributes.addAlignmentAttr(llvm::Align(buffer.dtype.bytes()));
  if (read_only) attributes.addAttribute(llvm::Attribute::ReadOnly);
  // Lets LLVM load ahead of a condition.
  if (const uint64_t bytes = ConstantBytes(buffer)) {
    attributes.addDereferenceableAttr(bytes);
  }
  a->addAttrs(attributes);
}

ModuleEmitter::ModuleEmitter(llvm::Module* module, const Machine& machine,
                             const MainFunction* main,
                             const std::string& prefix)
    : module_(module), machine_(machine), main_(main), prefix_(prefix) {}

llvm::Type* ModuleEmitter::ValueType(DataType t) {
  llvm::LLVMContext& c = context();
  llvm::Type* element = nullptr;
  if (t.is_bool()) {
    element = llvm::Type::getInt1Ty(c);
  } else if (t.is_float() && t.bits == 32) {
    element = llvm::Type::getFloatTy(c);
  } else if (t.is_float() && t.bits == 64) {
    element = llvm::Type::getDoubleTy(c);
  } else {
    element = llvm::Type::getIntNTy(c, t.bits);
  }
  return t.lanes > 1 ? llvm::FixedVectorType::get(element, t.lanes) : element;
}

llvm::Type* ModuleEmitter::MemoryType(DataType t) {
  return ValueType(t.is_bool() ? DataType::UInt(8, t.lanes) : t);
}

llvm::Function* ModuleEmitter::NewFunction(llvm::FunctionType* type,
                                           const std::string& name,
                                           bool exported) {
  llvm::Function* f =
      llvm::Function::Create(type,
                             exported ? llvm::GlobalValue::ExternalLinkage
                                      : llvm::GlobalValue::InternalLinkage,
                             name, *module_);
  f->addFnAttr("target-cpu", machine_.cpu);
  f->addFnAttr("target-features", machine_.FeatureText());
  f->addFnAttr("tune-cpu", machine_.tune_cpu);
  if (machine_.vector_bits > 0) {
    // LLVM halves 512-bit vectors on many processors unless it is told that
    // they are legal and preferred.
    const std::string bits = absl::StrCat(machine_.vector_bits);
    f->addFnAttr("prefer-vector-width", bits);
    f->addFnAttr("min-legal-vector-width", bits);
  } else {
    f->addFnAttr("no-implicit-float", "false");
  }
  f->addFnAttr("no-trapping-math", "true");
  f->addFnAttr(llvm::Attribute::NoUnwind);
  return f;
}

llvm::FunctionType* ModuleEmitter::BodyType() {
  llvm::Type* ptr = llvm::PointerType::getUnqual(context());
  llvm::Type* i64 = llvm::Type::getInt64Ty(context());
  return llvm::FunctionType::get(llvm::Type::getInt32Ty(context()),
                                 {ptr, i64, i64}, false);
}

llvm::StructType* ModuleEmitter::HostApiType() {
  return AbiStruct(context(), kHostApiFields);
}

llvm::GlobalVariable* ModuleEmitter::HostApiVariable() {
  const char* name = INGOT_HOST_API_SYMBOL;
  if (llvm::GlobalVariable* found = module_->getGlobalVariable(name)) {
    return found;
  }
  auto* ptr = llvm::PointerType::getUnqual(context());
  return new llvm::GlobalVariable(*module_, ptr, false,
                                  llvm::GlobalValue::WeakAnyLinkage,
                                  llvm::ConstantPointerNull::get(ptr), name);
}

llvm::GlobalVariable* ModuleEmitter::LastErrorVariable() {
  const char* name = "ingot.last_error";
  if (llvm::GlobalVariable* found = module_->getGlobalVariable(name, true)) {
    return found;
  }
  auto* ptr = llvm::PointerType::getUnqual(context());
  return new llvm::GlobalVariable(*module_, ptr, false,
                                  llvm::GlobalValue::InternalLinkage,
                                  llvm::ConstantPointerNull::get(ptr), name);
}

llvm::Function* ModuleEmitter::ParallelHelper() {
  const char* name = "ingot.parallel";
  if (llvm::Function* found = module_->getFunction(name)) return found;
  llvm::IRBuilder<> b(context());
  llvm::Function* f = NewFunction(
      llvm::FunctionType::get(
          b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()}, false),
      name, false);
  Value* body = f->getArg(0);
  Value* captures = f->getArg(1);
  Value* n = f->getArg(2);
  const auto block = [&](const char* block_name) {
    return llvm::BasicBlock::Create(context(), block_name, f);
  };
  llvm::BasicBlock* entry = block("entry");
  llvm::BasicBlock* some = block("some");
  llvm::BasicBlock* threads = block("threads");
  llvm::BasicBlock* serial = block("serial");
  llvm::BasicBlock* none = block("none");
  b.SetInsertPoint(entry);
  b.CreateCondBr(b.CreateICmpSGT(n, b.getInt64(0)), some, none);
  b.SetInsertPoint(some);
  Value* api = b.CreateLoad(b.getPtrTy(), HostApiVariable());
  Value* use_threads =
      b.CreateAnd(b.CreateIsNotNull(api), b.CreateICmpSGT(n, b.getInt64(1)));
  b.CreateCondBr(use_threads, threads, serial);
  b.SetInsertPoint(threads);
  Value* parallel_for = b.CreateLoad(
      b.getPtrTy(), b.CreateStructGEP(HostApiType(), api, kHostApiParallelFor));
  auto* type = llvm::FunctionType::get(
      b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()}, false);
  b.CreateRet(b.CreateCall(type, parallel_for, {body, captures, n}));
  b.SetInsertPoint(serial);
  b.CreateRet(b.CreateCall(BodyType(), body, {captures, b.getInt64(0), n}));
  b.SetInsertPoint(none);
  b.CreateRet(b.getInt32(0));
  return f;
}

llvm::Function* ModuleEmitter::FailHelper() {
  const char* name = "ingot.fail";
  if (llvm::Function* found = module_->getFunction(name)) return found;
  llvm::IRBuilder<> b(context());
  llvm::Type* ptr = b.getPtrTy();
  llvm::Function* f = NewFunction(
      llvm::FunctionType::get(b.getInt32Ty(), {ptr, ptr}, false), name, false);
  f->addFnAttr(llvm::Attribute::Cold);
  f->addFnAttr(llvm::Attribute::NoInline);
  if (machine_.is_wasm) {  // it has no host to tell
    b.SetInsertPoint(llvm::BasicBlock::Create(context(), "entry", f));
    if (main_ != nullptr) b.CreateStore(f->getArg(1), LastErrorVariable());
    b.CreateRet(b.getInt32(-1));
    return f;
  }
  auto* report = llvm::FunctionType::get(b.getVoidTy(), {ptr, ptr}, false);
  // In a process without Ingot's runtime, tvm-ffi's, if that is there.
  llvm::Function* raise =
      llvm::Function::Create(report, llvm::GlobalValue::ExternalWeakLinkage,
                             "TVMFFIErrorSetRaisedFromCStr", *module_);
  const auto block = [&](const char* block_name) {
    return llvm::BasicBlock::Create(context(), block_name, f);
  };
  llvm::BasicBlock* entry = block("entry");
  llvm::BasicBlock* ours = block("ours");
  llvm::BasicBlock* other = block("other");
  llvm::BasicBlock* theirs = block("theirs");
  llvm::BasicBlock* done = block("done");
  b.SetInsertPoint(entry);
  if (main_ != nullptr) b.CreateStore(f->getArg(1), LastErrorVariable());
  Value* api = b.CreateLoad(ptr, HostApiVariable());
  b.CreateCondBr(b.CreateIsNotNull(api), ours, other);
  b.SetInsertPoint(ours);
  Value* set_error = b.CreateLoad(
      ptr, b.CreateStructGEP(HostApiType(), api, kHostApiSetError));
  b.CreateCall(report, set_error, {f->getArg(0), f->getArg(1)});
  b.CreateBr(done);
  b.SetInsertPoint(other);
  b.CreateCondBr(b.CreateIsNotNull(raise), theirs, done);
  b.SetInsertPoint(theirs);
  b.CreateCall(report, raise, {f->getArg(0), f->getArg(1)});
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRet(b.getInt32(-1));
  return f;
}

absl::Status ModuleEmitter::AddKernel(const tir::PrimFunc& func) {
  INGOT_RETURN_IF_ERROR(CheckTypes(func));
  INGOT_ASSIGN_OR_RETURN(Signature signature, MakeSignature(func));
  if (module_->getFunction(func.name) != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("two kernels are called ", func.name));
  }
  llvm::Type* ptr = llvm::PointerType::getUnqual(context());
  llvm::Type* i64 = llvm::Type::getInt64Ty(context());
  std::vector<llvm::Type*> params(func.params.size(), ptr);
  params.resize(params.size() + signature.symbols.size(), i64);
  llvm::Function* kernel = NewFunction(
      llvm::FunctionType::get(llvm::Type::getInt32Ty(context()), params, false),
      func.name, false);
  // Inlined into the wrapper, the promises of its parameters would be lost.
  kernel->addFnAttr(llvm::Attribute::NoInline);
  const bool is_main = main_ != nullptr && main_->function == func.name;
  if (main_ != nullptr && !is_main) {
    // The model may be in another module of the same library.
    kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
    kernel->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }

  tir::Bounds bounds;
  unsigned arg = func.params.size();
  for (const DimBinding& symbol : signature.symbols) {
    bounds.Set(symbol.var, 0, INT64_MAX);
  }
  // Without threads, a loop that could use them is one like others.
  KernelEmitter emitter(this, kernel, bounds,
                        /*in_parallel=*/machine_.is_wasm);
  for (size_t p = 0; p < func.params.size(); ++p) {
    const bool read_only = static_cast<int>(p) < func.num_inputs();
    SetBufferAttributes(kernel, p, *func.params[p], read_only);
    kernel->getArg(p)->setName(func.params[p]->name);
    emitter.BindBuffer(func.params[p].get(), kernel->getArg(p));
  }
  for (const DimBinding& symbol : signature.symbols) {
    kernel->getArg(arg)->setName(symbol.var->name);
    emitter.BindVar(symbol.var, kernel->getArg(arg++));
  }
  emitter.EmitStmt(func.body);
  emitter.Finish();
  if (!emitter.status().ok()) return emitter.status();
  if (is_main) {
    EmitMain(func, signature, kernel);
  } else if (!machine_.is_wasm) {
    EmitWrapper(func, signature, kernel);
  }
  return absl::OkStatus();
}

}  // namespace ingot::codegen
