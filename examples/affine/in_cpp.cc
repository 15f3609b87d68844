// Loads and runs a model with Ingot's load stage and executor: in_cpp affine.so
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"

using ingot::DataType;
using ingot::Tensor;

static absl::Status Run(const char* path) {
  // Loaders of backends with forms of their own are registered here, too.
  ingot::LoaderRegistry loaders;
  absl::Status registered = ingot::RegisterCoreLoaders(&loaders);
  if (!registered.ok()) return registered;
  absl::StatusOr<ingot::LoadedModel> model = ingot::LoadPath(path, loaders);
  if (!model.ok()) return model.status();
  absl::StatusOr<std::unique_ptr<ingot::GraphExecutor>> executor =
      ingot::CreateExecutor(*model);
  if (!executor.ok()) return executor.status();

  absl::StatusOr<Tensor> x = Tensor::Empty(DataType::Float(32), {2, 3});
  if (!x.ok()) return x.status();
  for (int i = 0; i < 6; ++i) x->mutable_data<float>()[i] = i;
  absl::StatusOr<std::vector<Tensor>> outputs = (*executor)->Run({*x});
  if (!outputs.ok()) return outputs.status();
  for (const float y : (*outputs)[0].values<float>()) std::printf("%g ", y);
  std::printf("\n");
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const absl::Status status = Run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
