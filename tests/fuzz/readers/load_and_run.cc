#include "tests/fuzz/readers/load_and_run.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "artifact/artifact_set.h"
#include "base/status_macros.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor.h"

namespace ingot::fuzz {
namespace {

constexpr uint64_t kMostBytes = 1 << 16;

// Zeros for every input; none if they would be large.
std::vector<Tensor> SmallInputs(absl::Span<const TensorInfo> infos) {
  std::vector<Tensor> inputs;
  for (const TensorInfo& info : infos) {
    const absl::StatusOr<uint64_t> bytes = CountBytes(info.dtype, info.shape);
    if (!bytes.ok() || *bytes > kMostBytes) return {};
    absl::StatusOr<Tensor> input = Tensor::Empty(info.dtype, info.shape);
    if (!input.ok()) return {};
    memset(input->mutable_raw_data(), 0, input->bytes());
    inputs.push_back(*std::move(input));
  }
  return inputs;
}

}  // namespace

absl::StatusOr<bool> LoadAndRun(const LoaderRegistry& loaders,
                                absl::string_view loader,
                                absl::string_view file_name,
                                absl::string_view bytes) {
  Artifact artifact;
  artifact.codegen_id = "file";
  artifact.loader = std::string(loader);
  artifact.file_name = std::string(file_name);
  artifact.content = Blob::FromString(std::string(bytes));
  ArtifactSet set;
  INGOT_RETURN_IF_ERROR(set.Add(std::move(artifact)));
  const absl::StatusOr<LoadedModel> model = Load(set, loaders);
  if (!model.ok()) return false;
  ExecutorOptions options;
  options.max_storage_bytes = kMostBytes;
  const absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      CreateExecutor(*model, options);
  if (!executor.ok()) return true;
  const std::vector<Tensor> inputs = SmallInputs((*executor)->inputs());
  if (inputs.size() == (*executor)->inputs().size()) {
    (*executor)->Run(inputs).status().IgnoreError();
  }
  return true;
}

}  // namespace ingot::fuzz
