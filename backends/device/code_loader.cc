#include "backends/device/code_loader.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "backends/device/kernel_device.h"
#include "backends/device/read_table.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/plan/call_spec.h"

namespace ingot::device {
namespace {

// Loaded code, which is there as long as a function of it.
class Code {
 public:
  static absl::StatusOr<std::shared_ptr<Code>> Open(absl::string_view family,
                                                    const OpenDevice& on,
                                                    absl::string_view bytes) {
    auto device = std::dynamic_pointer_cast<KernelDevice>(on.api);
    if (device == nullptr || device->family() != family) {
      return absl::FailedPreconditionError(absl::StrCat(
          "kernels of ", family, " are to run on ", on.device.ToString()));
    }
    INGOT_ASSIGN_OR_RETURN(void* handle, device->LoadCode(bytes));
    return std::make_shared<Code>(std::move(device), handle);
  }

  Code(std::shared_ptr<KernelDevice> device, void* handle)
      : device_(std::move(device)), handle_(handle) {}
  ~Code() { device_->UnloadCode(handle_); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  KernelDevice& device() const { return *device_; }
  absl::StatusOr<void*> FindKernel(const std::string& name) const {
    return device_->FindKernel(handle_, name);
  }

 private:
  const std::shared_ptr<KernelDevice> device_;
  void* const handle_;
};

absl::StatusOr<const Artifact*> FindFile(absl::Span<const Artifact> group,
                                         absl::string_view file) {
  for (const Artifact& artifact : group) {
    if (artifact.file_name == file) return &artifact;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no ", file, " beside ", ArtifactPath(group[0])));
}

// The function of an entry of the table, which keeps the code.
absl::StatusOr<Function> MakeFunction(const std::shared_ptr<Code>& code,
                                      Device device,
                                      const TableFunction& entry) {
  std::vector<void*> kernels;
  for (const Launch& launch : entry.launches) {
    INGOT_ASSIGN_OR_RETURN(void* kernel, code->FindKernel(launch.kernel));
    kernels.push_back(kernel);
  }
  return Function::FromLambda(
      [code, device, entry, kernels = std::move(kernels)](
          absl::Span<const TVMFFIAny> args, TVMFFIAny*) -> absl::Status {
        INGOT_ASSIGN_OR_RETURN(const std::vector<void*> arguments,
                               CheckCall(entry.name, entry.spec, args, device));
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
  INGOT_ASSIGN_OR_RETURN(const Artifact* file, FindFile(group, kind.file));
  INGOT_ASSIGN_OR_RETURN(const Artifact* table, FindFile(group, kTableFile));
  absl::StatusOr<std::vector<TableFunction>> functions =
      ReadTable(table->content.view());
  if (!functions.ok()) {
    return Annotate(functions.status(), ArtifactPath(*table));
  }
  const OpenDevice on = context.DeviceOf(file->target_key);
  const absl::StatusOr<std::shared_ptr<Code>> code =
      Code::Open(kind.family, on, file->content.view());
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
