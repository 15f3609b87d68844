#include "backends/opencl/loader.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "artifact/artifact_set.h"
#include "backends/opencl/device.h"
#include "backends/opencl/program.h"
#include "backends/opencl/read_table.h"
#include "backends/opencl/table.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace ingot {
namespace opencl {
namespace {

absl::StatusOr<const Artifact*> FindFile(absl::Span<const Artifact> group,
                                         absl::string_view file) {
  for (const Artifact& artifact : group) {
    if (artifact.file_name == file) return &artifact;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no ", file, " beside ", ArtifactPath(group[0])));
}

absl::StatusOr<std::shared_ptr<Module>> Load(absl::Span<const Artifact> group,
                                             LoadContext& context) {
  INGOT_ASSIGN_OR_RETURN(const Artifact* source, FindFile(group, kSourceFile));
  INGOT_ASSIGN_OR_RETURN(const Artifact* table, FindFile(group, kTableFile));
  absl::StatusOr<std::vector<TableFunction>> functions =
      ReadTable(table->content.view());
  if (!functions.ok()) {
    return Annotate(functions.status(), ArtifactPath(*table));
  }
  absl::StatusOr<std::shared_ptr<Program>> program = Program::Create(
      context.DeviceOf(source->target_key), source->content.view());
  if (!program.ok()) return Annotate(program.status(), ArtifactPath(*source));
  auto module = std::make_shared<TableModule>(kName);
  for (const TableFunction& entry : *functions) {
    absl::StatusOr<Function> function = (*program)->Find(entry);
    absl::Status status = function.status();
    if (status.ok()) status = module->Add(entry.name, *std::move(function));
    if (!status.ok()) return Annotate(status, ArtifactPath(*table));
  }
  return module;
}

}  // namespace
}  // namespace opencl

absl::Status RegisterOpenclLoader(LoaderRegistry* registry) {
  INGOT_RETURN_IF_ERROR(registry->RegisterDevice(
      opencl::kName, [] { return opencl::ClDevice::Open(); }));
  return registry->Register(opencl::kName, opencl::Load, LoaderInput::kCode);
}

}  // namespace ingot
