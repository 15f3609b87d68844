#include "backends/device/code_loader.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "artifact/artifact_set.h"
#include "backends/device/built_code.h"
#include "backends/device/kernel_device.h"
#include "backends/device/read_table.h"
#include "base/alignment.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "loaders/build_cache.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/plan/call_spec.h"

namespace ingot::device {
namespace {

// Loaded code, which is there as long as a function of it.
class Code {
 public:
  Code(std::shared_ptr<KernelDevice> device, void* handle)
      : device_(std::move(device)), handle_(handle) {}
  ~Code() { device_->UnloadCode(handle_); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  KernelDevice& device() const { return *device_; }
  absl::StatusOr<void*> FindKernel(const Launch& launch,
                                   const CallSpec& spec) const {
    return device_->FindKernel(handle_, launch,
                               spec.inputs.size() + spec.outputs.size());
  }

 private:
  const std::shared_ptr<KernelDevice> device_;
  void* const handle_;
};

const Artifact* FindFile(absl::Span<const Artifact> group,
                         absl::string_view file) {
  for (const Artifact& artifact : group) {
    if (artifact.file_name == file) return &artifact;
  }
  return nullptr;
}

absl::StatusOr<const Artifact*> RequireFile(absl::Span<const Artifact> group,
                                            absl::string_view file) {
  if (const Artifact* found = FindFile(group, file)) return found;
  return absl::InvalidArgumentError(
      absl::StrCat("there is no ", file, " beside ", ArtifactPath(group[0])));
}

// Loads code that this driver built before, which an artifact beside the code
// or a cache has. Null where there is none, or none that it takes now; the
// caller then builds, and says so.
void* LoadWhatWasBuilt(absl::Span<const Artifact> group, const BuiltCode& built,
                       KernelDevice& device, LoadContext& context) {
  std::optional<Blob> kept;
  if (const Artifact* artifact = FindFile(group, built.file_name())) {
    kept = artifact->content;
  } else if (context.builds != nullptr) {
    kept = context.builds->Find(built.file_name());
  }
  if (!kept) return nullptr;
  const auto binary = built.Read(kept->view());
  if (!binary) return nullptr;
  const absl::StatusOr<void*> handle = device.LoadBuilt(*binary);
  return handle.ok() ? *handle : nullptr;
}

// Lets the driver compile `code`, says so, and keeps what it made.
absl::StatusOr<void*> Build(const Artifact& code, const BuiltCode& built,
                            KernelDevice& device, LoadContext& context) {
  const absl::Time start = absl::Now();
  std::string binary;
  INGOT_ASSIGN_OR_RETURN(
      void* handle,
      device.LoadCode(code.content.view(),
                      context.builds == nullptr ? nullptr : &binary));
  if (context.on_work != nullptr) {
    context.on_work(absl::StrCat(
        code.loader, ": the driver compiled ", ArtifactPath(code), " in ",
        absl::FormatDuration(
            absl::Trunc(absl::Now() - start, absl::Milliseconds(1)))));
  }
  if (!binary.empty()) {
    Artifact artifact = code;
    artifact.file_name = built.file_name();
    artifact.content = Blob::FromString(built.Write(binary));
    context.builds->Keep(artifact);
  }
  return handle;
}

absl::StatusOr<std::shared_ptr<Code>> OpenCode(absl::Span<const Artifact> group,
                                               const Artifact& code,
                                               absl::string_view family,
                                               const OpenDevice& on,
                                               LoadContext& context) {
  auto device = std::dynamic_pointer_cast<KernelDevice>(on.api);
  if (device == nullptr || device->family() != family) {
    return absl::FailedPreconditionError(absl::StrCat(
        "kernels of ", family, " are to run on ", on.device.ToString()));
  }
  void* handle = nullptr;
  if (const std::string for_what = device->BuiltFor(); for_what.empty()) {
    INGOT_ASSIGN_OR_RETURN(handle,
                           device->LoadCode(code.content.view(), nullptr));
  } else {
    const BuiltCode built(code.file_name, code.content.view(), for_what);
    handle = LoadWhatWasBuilt(group, built, *device, context);
    if (handle == nullptr) {
      INGOT_ASSIGN_OR_RETURN(handle, Build(code, built, *device, context));
    }
  }
  return std::make_shared<Code>(std::move(device), handle);
}

// Kernels move several elements at once. Memory of executors is aligned, and
// plans of others may not be.
absl::Status CheckAlignment(absl::string_view name,
                            absl::Span<void* const> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (reinterpret_cast<uintptr_t>(arguments[i]) % kAlignment == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": argument ", i, " does not begin at a multiple of ", kAlignment,
        " bytes"));
  }
  return absl::OkStatus();
}

// The function of an entry of the table, which keeps the code.
absl::StatusOr<Function> MakeFunction(const std::shared_ptr<Code>& code,
                                      Device device,
                                      const TableFunction& entry) {
  std::vector<void*> kernels;
  for (const Launch& launch : entry.launches) {
    INGOT_ASSIGN_OR_RETURN(void* kernel, code->FindKernel(launch, entry.spec));
    kernels.push_back(kernel);
  }
  return Function::FromLambda(
      [code, device, entry, kernels = std::move(kernels)](
          absl::Span<const TVMFFIAny> args, TVMFFIAny*) -> absl::Status {
        INGOT_ASSIGN_OR_RETURN(const std::vector<void*> arguments,
                               CheckCall(entry.name, entry.spec, args, device));
        INGOT_RETURN_IF_ERROR(CheckAlignment(entry.name, arguments));
        for (size_t i = 0; i < kernels.size(); ++i) {
          const absl::Status status =
              code->device().Run(kernels[i], entry.launches[i], arguments);
          if (!status.ok()) {
            return Annotate(status,
                            absl::StrCat("kernel ", entry.launches[i].kernel));
          }
        }
        return absl::OkStatus();
      });
}

// A loader, and the code that it takes.
struct CodeKind {
  std::string loader, family, file;
};

absl::StatusOr<std::shared_ptr<Module>> LoadCode(
    const CodeKind& kind, absl::Span<const Artifact> group,
    LoadContext& context) {
  INGOT_ASSIGN_OR_RETURN(const Artifact* file, RequireFile(group, kind.file));
  INGOT_ASSIGN_OR_RETURN(const Artifact* table, RequireFile(group, kTableFile));
  absl::StatusOr<std::vector<TableFunction>> functions =
      ReadTable(table->content.view());
  if (!functions.ok()) {
    return Annotate(functions.status(), ArtifactPath(*table));
  }
  const OpenDevice on = context.DeviceOf(file->target_key);
  const absl::StatusOr<std::shared_ptr<Code>> code =
      OpenCode(group, *file, kind.family, on, context);
  if (!code.ok()) return Annotate(code.status(), ArtifactPath(*file));
  auto module = std::make_shared<TableModule>(kind.loader);
  for (const TableFunction& entry : *functions) {
    absl::StatusOr<Function> function = MakeFunction(*code, on.device, entry);
    absl::Status status = function.status();
    if (status.ok()) status = module->Add(entry.name, *std::move(function));
    if (!status.ok()) return Annotate(status, ArtifactPath(*table));
  }
  return module;
}

}  // namespace

absl::Status RegisterCodeLoader(
    absl::string_view kind, absl::string_view family,
    absl::string_view code_file,
    const std::function<absl::StatusOr<OpenDevice>()>& open,
    LoaderRegistry* registry) {
  INGOT_RETURN_IF_ERROR(registry->RegisterDevice(kind, open));
  const auto load = [code = CodeKind{std::string(kind), std::string(family),
                                     std::string(code_file)}](
                        absl::Span<const Artifact> group,
                        LoadContext& context) {
    return LoadCode(code, group, context);
  };
  return registry->Register(kind, load, LoaderInput::kCode);
}

}  // namespace ingot::device
