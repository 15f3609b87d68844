// Loads a compiled model and runs it once, with Ingot's load stage and executor
// and without a compiler.
//
//   embed_runtime MODEL.so [INPUT.npy ...]
//
// Inputs that are not given are filled with 0.5 (or 0, for integers).

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/blob.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"
#include "tools/ingot/npy.h"

namespace {

using ingot::Tensor;
using ingot::TensorInfo;

// Symbolic dimensions, -1, become 1.
absl::StatusOr<Tensor> MakeInput(const TensorInfo& info) {
  std::vector<int64_t> shape = info.shape;
  for (int64_t& size : shape) size = size < 0 ? 1 : size;
  absl::StatusOr<Tensor> tensor = Tensor::Empty(info.dtype, shape);
  if (!tensor.ok()) return tensor;
  memset(tensor->mutable_raw_data(), 0, tensor->bytes());
  if (info.dtype == ingot::DataType::Float(32)) {
    float* data = tensor->mutable_data<float>();
    std::fill(data, data + tensor->NumElements(), 0.5f);
  }
  return tensor;
}

absl::StatusOr<Tensor> ReadInput(const char* path) {
  absl::StatusOr<ingot::Blob> bytes = ingot::Blob::MapFile(path);
  if (!bytes.ok()) return bytes.status();
  return ingot::ParseNpy(bytes->view());
}

absl::Status Run(int argc, char** argv) {
  // 1. The loaders that this program knows. A model that needs another one says
  //    so when it is loaded.
  ingot::LoaderRegistry loaders;
  if (absl::Status s = ingot::RegisterCoreLoaders(&loaders); !s.ok()) return s;

  // 2. Load. Opening a library is as running it: open only what you trust.
  absl::StatusOr<ingot::LoadedModel> model = ingot::LoadPath(argv[1], loaders);
  if (!model.ok()) return model.status();
  absl::StatusOr<std::unique_ptr<ingot::GraphExecutor>> executor =
      ingot::CreateExecutor(*model);
  if (!executor.ok()) return executor.status();

  // 3. Run.
  std::vector<Tensor> inputs;
  for (const TensorInfo& info : (*executor)->inputs()) {
    const int given = static_cast<int>(inputs.size()) + 2;
    absl::StatusOr<Tensor> input =
        given < argc ? ReadInput(argv[given]) : MakeInput(info);
    if (!input.ok()) return input.status();
    inputs.push_back(*std::move(input));
  }
  absl::StatusOr<std::vector<Tensor>> outputs = (*executor)->Run(inputs);
  if (!outputs.ok()) return outputs.status();

  // 4. Use the outputs.
  for (size_t i = 0; i < outputs->size(); ++i) {
    const Tensor& output = (*outputs)[i];
    printf("%s: %s", (*executor)->outputs()[i].name.c_str(),
           output.TypeString().c_str());
    if (output.dtype() == ingot::DataType::Float(32)) {
      for (const float value : output.values<float>().subspan(0, 4)) {
        printf(" %g", value);
      }
    }
    printf("\n");
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: embed_runtime MODEL.so [INPUT.npy ...]\n");
    return 2;
  }
  const absl::Status status = Run(argc, argv);
  if (status.ok()) return 0;
  fprintf(stderr, "embed_runtime: %s\n", std::string(status.message()).c_str());
  return 1;
}
