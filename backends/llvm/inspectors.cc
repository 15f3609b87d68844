#include "backends/llvm/inspectors.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/llvm/disassemble.h"
#include "base/status_macros.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot {
namespace {

absl::StatusOr<std::string> InspectObject(const Artifact& artifact) {
  return DescribeObject(artifact.content.view(), artifact.file_name);
}

absl::StatusOr<std::string> InspectBitcode(const Artifact& artifact) {
  const absl::string_view bytes = artifact.content.view();
  llvm::LLVMContext context;
  // Without a handler LLVM prints warnings, and ends the process over errors.
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo*, void*) {});
  llvm::Expected<std::unique_ptr<llvm::Module>> module = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()),
                            artifact.file_name),
      context);
  if (!module) {
    return absl::InvalidArgumentError(absl::StrCat(
        artifact.file_name,
        " is no LLVM bitcode: ", llvm::toString(module.takeError())));
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  (*module)->print(out, nullptr);
  return text;
}

}  // namespace

absl::Status RegisterLlvmInspectors(InspectorRegistry* registry) {
  InspectorRule object;
  object.name = "object";
  object.file_suffixes = {".o", ".hsaco"};
  object.output_suffix = ".dis.txt";
  object.inspect = InspectObject;
  INGOT_RETURN_IF_ERROR(registry->Register(std::move(object)));
  InspectorRule bitcode;
  bitcode.name = "bitcode";
  bitcode.file_suffixes = {".bc"};
  bitcode.output_suffix = ".ll";
  bitcode.inspect = InspectBitcode;
  return registry->Register(std::move(bitcode));
}

}  // namespace ingot
