#include "backends/llvm/inspectors.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "artifact/loader_names.h"
#include "backends/llvm/disassemble.h"
#include "base/status_macros.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {
namespace {

// The nodes of the functions that the set's plans call.
NodesOfFunctions NodesIn(const ArtifactSet& set) {
  constexpr size_t kMostBytes = size_t{1} << 30;
  NodesOfFunctions nodes;
  for (const Artifact& artifact : set.artifacts()) {
    Plan plan;
    if (artifact.loader == kMetadataLoader &&
        artifact.content.size() <= kMostBytes &&
        plan.ParseFromArray(artifact.content.data(),
                            static_cast<int>(artifact.content.size()))) {
      AddNodesOfFunctions(plan, &nodes);
    }
  }
  return nodes;
}

absl::StatusOr<std::string> InspectObject(const Artifact& artifact,
                                          const ArtifactSet& set) {
  return DescribeObject(artifact.content.view(), artifact.file_name,
                        NodesIn(set));
}

absl::StatusOr<std::string> InspectBitcode(const Artifact& artifact,
                                           const ArtifactSet&) {
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
