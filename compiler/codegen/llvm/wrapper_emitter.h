// Exported functions of the C ABI: arguments in, checked.
#ifndef INGOT_COMPILER_CODEGEN_LLVM_WRAPPER_EMITTER_H_
#define INGOT_COMPILER_CODEGEN_LLVM_WRAPPER_EMITTER_H_

#include <map>
#include <string>
#include <vector>

#include "compiler/codegen/llvm/module_emitter.h"
#include "compiler/codegen/signature.h"
#include "compiler/tir/ir.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

namespace ingot::codegen {

// Emits one such function, which is made here.
class WrapperEmitter {
 public:
  WrapperEmitter(ModuleEmitter* module, const std::string& name);

  // Goes on where `bad` is false; elsewhere the function fails.
  void Check(llvm::Value* bad, const char* kind, const std::string& message);

  // The values that the arguments hold.
  struct Arguments {
    std::vector<llvm::Value*> data;     // by parameter; null where not given
    std::vector<llvm::Value*> symbols;  // in the order of the signature
    std::vector<llvm::Value*> tensors;  // by parameter, as `data`
  };
  // Checks that there are as many arguments as `given` is true, reads these as
  // the parameters of `func` for which it is, and checks their types and
  // shapes.
  Arguments Read(const tir::PrimFunc& func, const Signature& signature,
                 const std::vector<bool>& given);

  // Checks that the tensors are dense and row-major, which callers that are not
  // Ingot need not know.
  void CheckDense(const tir::PrimFunc& func, const Arguments& arguments);

  llvm::Function* function() { return function_; }
  llvm::IRBuilder<>& builder() { return b_; }

 private:
  // A tensor, as a kernel needs it.
  struct Tensor {
    llvm::Value* self;
    llvm::Value* data;
    llvm::Value* shape;
  };
  // Argument number `argument` as parameter `p`.
  Tensor ReadTensor(const tir::PrimFunc& func, int p, int argument);

  llvm::Value* LoadAt(llvm::Type* type, llvm::Value* tensor, unsigned index);
  llvm::Value* Field(llvm::Value* tensor, unsigned index);
  llvm::BasicBlock* NewBlock(const char* name);
  llvm::Constant* Text(const std::string& text);

  ModuleEmitter* const module_;
  llvm::Function* const function_;
  llvm::IRBuilder<> b_;
  llvm::StructType* const any_type_;
  llvm::StructType* const tensor_type_;
  llvm::BasicBlock* fail_block_;
  llvm::PHINode* kind_;
  llvm::PHINode* message_;
  std::map<std::string, llvm::Constant*> texts_;
};

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_WRAPPER_EMITTER_H_
