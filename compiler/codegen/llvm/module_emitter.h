// One LLVM module made of kernels. LLVM's headers stay in the .cc files that
// include this one.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_MODULE_EMITTER_H_
#define INGOT_COMPILER_CODEGEN_LLVM_MODULE_EMITTER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/codegen/captures.h"
#include "compiler/codegen/llvm/machine.h"
#include "compiler/codegen/signature.h"
#include "compiler/target/main_function.h"
#include "compiler/tir/ir.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace ingot::codegen {

// Adds kernels to a module, and what they share: the C ABI's structures, the
// variable that holds the host's services and the helpers that use it.
class ModuleEmitter {
 public:
  // All outlive the emitter. `main` is null where the code has no function for
  // the whole model; otherwise kernels of other modules call, and are called.
  ModuleEmitter(llvm::Module* module, const Machine& machine,
                const MainFunction* main, const std::string& prefix);

  // Adds an internal function with the kernel's loops, and, but for
  // WebAssembly, the exported one that checks arguments and calls it.
  // InvalidArgument for what the code generator cannot do; the module is then
  // of no use. The model itself is added last and offered as main_function.h
  // says.
  absl::Status AddKernel(const tir::PrimFunc& func);

  // Whether other kernels may be called by their names.
  bool CallsKernels() const { return main_ != nullptr; }

  llvm::Module& module() { return *module_; }
  llvm::LLVMContext& context() { return module_->getContext(); }
  const Machine& machine() const { return machine_; }

  // A function with the attributes of this machine.
  llvm::Function* NewFunction(llvm::FunctionType* type, const std::string& name,
                              bool exported);
  // How a variable or an element travels in registers, and in memory.
  llvm::Type* ValueType(DataType t);
  llvm::Type* MemoryType(DataType t);

  // int (void* ctx, int64_t begin, int64_t end), the body of a parallel loop.
  llvm::FunctionType* BodyType();
  // int (body*, void* ctx, int64_t n): runs it on the host's threads, or here.
  llvm::Function* ParallelHelper();
  // bool (): asks the system once for the registers of tiles, which Linux gives
  // to a process only on demand; whether they may be used.
  llvm::Function* TilesHelper();
  // int (char* kind, char* message): describes an error and returns -1.
  llvm::Function* FailHelper();

 private:
  // Emits func.name: checks, binds symbols, calls `kernel`.
  void EmitWrapper(const tir::PrimFunc& func, const Signature& signature,
                   llvm::Function* kernel);
  // The same for the model (emit_main.cc).
  void EmitMain(const tir::PrimFunc& func, const Signature& signature,
                llvm::Function* kernel);
  llvm::Function* EmitRun(const tir::PrimFunc& func, const Signature& signature,
                          llvm::Function* kernel);
  llvm::Function* EmitArenaBytes(const tir::PrimFunc& func,
                                 const Signature& signature);
  llvm::Function* EmitLastError();
  // The variable that describes the model.
  void EmitModelInfo(const tir::PrimFunc& func, llvm::Function* run,
                     llvm::Function* last_error);
  llvm::GlobalVariable* HostApiVariable();
  // The text of the last error; one for each module.
  llvm::GlobalVariable* LastErrorVariable();
  llvm::StructType* HostApiType();

  llvm::Module* const module_;
  const Machine& machine_;
  const MainFunction* const main_;
  const std::string& prefix_;
};

// How a parameter of an internal function is attributed: no two of them
// overlap, unless both are only read.
void SetBufferAttributes(llvm::Function* function, unsigned arg,
                         const tir::BufferNode& buffer, bool read_only);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_MODULE_EMITTER_H_
