#include "backends/llvmjit/loader.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/llvmjit/name.h"
#include "backends/llvmjit/narrow_features.h"
#include "base/status_macros.h"
#include "isa/machines.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "runtime/c_abi.h"
#include "runtime/host_api.h"

namespace ingot {
namespace {

constexpr absl::string_view kPrefix = INGOT_FFI_SYMBOL_PREFIX;

absl::string_view View(llvm::StringRef s) {
  return absl::string_view(s.data(), s.size());
}

std::string Text(llvm::Error error) { return llvm::toString(std::move(error)); }

class JitModule final : public Module {
 public:
  JitModule(std::unique_ptr<llvm::orc::LLJIT> jit,
            std::map<std::string, TVMFFISafeCallType, std::less<>> functions)
      : jit_(std::move(jit)), functions_(std::move(functions)) {}

  absl::string_view kind() const override { return llvmjit::kName; }

  std::optional<Function> GetFunction(absl::string_view name) const override {
    auto it = functions_.find(std::string(name));
    if (it == functions_.end()) return std::nullopt;
    return Function(it->second, nullptr, shared_from_this());
  }

  std::vector<std::string> FunctionNames() const override {
    std::vector<std::string> names;
    for (const auto& [name, function] : functions_) names.push_back(name);
    return names;
  }

 private:
  const std::unique_ptr<llvm::orc::LLJIT> jit_;  // owns the code
  const std::map<std::string, TVMFFISafeCallType, std::less<>> functions_;
};

struct Parsed {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

absl::StatusOr<Parsed> ParseBitcode(const Artifact& artifact) {
  Parsed parsed;
  parsed.context = std::make_unique<llvm::LLVMContext>();
  // Without a handler LLVM prints warnings, and ends the process over errors.
  parsed.context->setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo*, void*) {});
  const absl::string_view bytes = artifact.content.view();
  llvm::Expected<std::unique_ptr<llvm::Module>> module = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(llvm::StringRef(bytes.data(), bytes.size()),
                            artifact.file_name),
      *parsed.context);
  if (!module) {
    return absl::InvalidArgumentError(absl::StrCat(
        artifact.file_name, " is no LLVM bitcode: ", Text(module.takeError())));
  }
  if (llvm::verifyModule(**module, nullptr)) {
    return absl::InvalidArgumentError(
        absl::StrCat(artifact.file_name, ": malformed LLVM bitcode"));
  }
  parsed.module = std::move(*module);
  return parsed;
}

absl::StatusOr<std::unique_ptr<llvm::orc::LLJIT>> MakeJit(
    const Parsed& first, const std::string& file_name) {
  const std::string& triple = first.module->getTargetTriple();
  const isa::MachineFamily* family = isa::FindByTriple(triple);
  if (family == nullptr || family != isa::HostFamily()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, " is for ", triple, ", which cannot run here"));
  }
  llvm::orc::JITTargetMachineBuilder machine{llvm::Triple(triple)};
  machine.setRelocationModel(llvm::Reloc::PIC_);
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit =
      llvm::orc::LLJITBuilder()
          .setJITTargetMachineBuilder(std::move(machine))
          .create();
  if (!jit) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, " is for ", triple,
                     ", which cannot run here: ", Text(jit.takeError())));
  }
  // The C library and its mathematical functions, from this process.
  llvm::Expected<std::unique_ptr<llvm::orc::DynamicLibrarySearchGenerator>>
      process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          (*jit)->getDataLayout().getGlobalPrefix());
  if (!process) {
    return absl::InternalError(Text(process.takeError()));
  }
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  return std::move(*jit);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Module>> LoadLlvmJit(
    absl::Span<const Artifact> group, const std::set<std::string>& available) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<std::string> names;
  bool has_host_api = false;
  for (const Artifact& artifact : group) {
    INGOT_ASSIGN_OR_RETURN(Parsed parsed, ParseBitcode(artifact));
    NarrowFeatures(parsed.module.get(), available);
    if (jit == nullptr) {
      INGOT_ASSIGN_OR_RETURN(auto made, MakeJit(parsed, artifact.file_name));
      jit = std::move(made);
    }
    if (parsed.module->getDataLayout() != jit->getDataLayout()) {
      return absl::InvalidArgumentError(absl::StrCat(
          artifact.file_name, " is for ", parsed.module->getTargetTriple(),
          ", unlike the files before it"));
    }
    for (const llvm::Function& f : *parsed.module) {
      const absl::string_view name = View(f.getName());
      if (!f.isDeclaration() && f.hasExternalLinkage() &&
          name.substr(0, kPrefix.size()) == kPrefix) {
        names.emplace_back(name.substr(kPrefix.size()));
      }
    }
    has_host_api |=
        parsed.module->getNamedGlobal(INGOT_HOST_API_SYMBOL) != nullptr;
    if (llvm::Error error = jit->addIRModule(llvm::orc::ThreadSafeModule(
            std::move(parsed.module), std::move(parsed.context)))) {
      return absl::InvalidArgumentError(
          absl::StrCat(artifact.file_name, ": ", Text(std::move(error))));
    }
  }
  if (jit == nullptr) return std::shared_ptr<Module>();

  // Looking up compiles. The names are sorted for the sake of one order.
  std::sort(names.begin(), names.end());
  std::map<std::string, TVMFFISafeCallType, std::less<>> functions;
  for (const std::string& name : names) {
    llvm::Expected<llvm::orc::ExecutorAddr> address =
        jit->lookup(absl::StrCat(kPrefix, name));
    if (!address) {
      return absl::FailedPreconditionError(
          absl::StrCat(group[0].file_name, ": function ", name, ": ",
                       Text(address.takeError())));
    }
    functions[name] = address->toPtr<TVMFFISafeCallType>();
  }
  if (has_host_api) {
    llvm::Expected<llvm::orc::ExecutorAddr> address =
        jit->lookup(INGOT_HOST_API_SYMBOL);
    if (!address) return absl::InternalError(Text(address.takeError()));
    *address->toPtr<const IngotHostApi**>() = GetHostApi();
  }
  return std::make_shared<JitModule>(std::move(jit), std::move(functions));
}

absl::StatusOr<std::shared_ptr<Module>> LoadBinaryLlvmjit(
    absl::Span<const Artifact> group, LoadContext& context) {
  return LoadLlvmJit(group);
}

absl::Status RegisterLlvmjitLoader(LoaderRegistry* registry) {
  return registry->Register(llvmjit::kName, LoadBinaryLlvmjit,
                            LoaderInput::kCode);
}

}  // namespace ingot
