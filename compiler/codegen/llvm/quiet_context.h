#ifndef INGOT_COMPILER_CODEGEN_LLVM_QUIET_CONTEXT_H_
#define INGOT_COMPILER_CODEGEN_LLVM_QUIET_CONTEXT_H_

#include <memory>
#include <string>

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::codegen {

// Makes `context` write errors to *error, the first of them, which outlives it,
// and nothing to the terminal: by default LLVM prints remarks and warnings, and
// ends the process over an error.
inline void MakeQuiet(llvm::LLVMContext* context, std::string* error) {
  struct Handler final : llvm::DiagnosticHandler {
    explicit Handler(std::string* error) : error(error) {}
    bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
      if (info.getSeverity() == llvm::DS_Error && error->empty()) {
        llvm::raw_string_ostream out(*error);
        llvm::DiagnosticPrinterRawOStream printer(out);
        info.print(printer);
      }
      return true;
    }
    std::string* const error;
  };
  context->setDiagnosticHandler(std::make_unique<Handler>(error));
}

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LLVM_QUIET_CONTEXT_H_
