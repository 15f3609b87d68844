#include "backends/device/code.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "backends/device/read_table.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/function.h"
#include "runtime/plan/call_spec.h"

namespace ingot::device {
namespace {

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
              code->Run(kernels[i], entry.launches[i], arguments);
          if (!status.ok()) {
            return Annotate(status,
                            absl::StrCat("kernel ", entry.launches[i].kernel));
          }
        }
        return absl::OkStatus();
      });
}

}  // namespace

absl::StatusOr<std::shared_ptr<Module>> LoadCode(
    absl::string_view loader, absl::string_view code_file,
    const OpenCodeFn& open, absl::Span<const Artifact> group,
    LoadContext& context) {
  INGOT_ASSIGN_OR_RETURN(const Artifact* file, FindFile(group, code_file));
  INGOT_ASSIGN_OR_RETURN(const Artifact* table, FindFile(group, kTableFile));
  absl::StatusOr<std::vector<TableFunction>> functions =
      ReadTable(table->content.view());
  if (!functions.ok()) {
    return Annotate(functions.status(), ArtifactPath(*table));
  }
  const OpenDevice on = context.DeviceOf(file->target_key);
  absl::StatusOr<std::shared_ptr<Code>> code = open(on, file->content.view());
  if (!code.ok()) return Annotate(code.status(), ArtifactPath(*file));
  auto module = std::make_shared<TableModule>(loader);
  for (const TableFunction& entry : *functions) {
    absl::StatusOr<Function> function = MakeFunction(*code, on.device, entry);
    absl::Status status = function.status();
    if (status.ok()) status = module->Add(entry.name, *std::move(function));
    if (!status.ok()) return Annotate(status, ArtifactPath(*table));
  }
  return module;
}

}  // namespace ingot::device
