// Runs a linked model in both ways and compares, bit for bit.
//
//   compare_main MODEL.so [TEST_DATA]
//
// TEST_DATA is a folder of ONNX's test data, whose inputs are taken; otherwise
// they are random numbers, and symbolic dimensions are 3. Prints `same`, with
// how many of the inputs' dimensions are symbolic if some are, or why there is
// nothing to compare, or what differs.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "artifact/main_header.h"
#include "backends/testing/check_main.h"
#include "base/status_macros.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"
#include "tools/ingot/test_data.h"

namespace ingot {
namespace {

// Small numbers of both signs, which every type has.
absl::StatusOr<Tensor> RandomTensor(const TensorInfo& info,
                                    std::mt19937* numbers) {
  std::vector<int64_t> shape = info.shape;
  for (int64_t& size : shape) size = size < 0 ? 3 : size;
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(info.dtype, shape));
  auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw_data());
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    const int32_t number = static_cast<int32_t>((*numbers)() % 256);
    if (info.dtype == DataType::Float(32)) {
      tensor.mutable_data<float>()[i] =
          static_cast<float>(number - 128) / 64.0f;
    } else if (info.dtype == DataType::Float(64)) {
      tensor.mutable_data<double>()[i] = (number - 128) / 64.0;
    } else {
      // The lowest byte of an integer; of a 16-bit float, a small one.
      const size_t width = info.dtype.bytes();
      for (size_t b = 0; b < width; ++b) bytes[i * width + b] = 0;
      bytes[i * width] = static_cast<uint8_t>(number % 2);
    }
  }
  return tensor;
}

absl::StatusOr<std::vector<Tensor>> MakeInputs(const GraphExecutor& executor,
                                               const char* folder) {
  std::vector<Tensor> inputs;
  std::mt19937 numbers(1);
  if (folder == nullptr) {
    for (const TensorInfo& info : executor.inputs()) {
      INGOT_ASSIGN_OR_RETURN(Tensor tensor, RandomTensor(info, &numbers));
      inputs.push_back(std::move(tensor));
    }
    return inputs;
  }
  INGOT_ASSIGN_OR_RETURN(std::vector<TestDataSet> sets, FindTestData(folder));
  for (const std::string& path : sets[0].inputs) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, ReadTensorProtoFile(path));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

// Gives how many dimensions of inputs are symbolic.
absl::StatusOr<int> Compare(const char* path, const char* folder) {
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterCoreLoaders(&loaders));
  INGOT_ASSIGN_OR_RETURN(const LoadedModel model, LoadPath(path, loaders));
  if (!testing_support::HasMain(model)) {
    for (const auto& option : model.provenance.options()) {
      if (option.name() == kNoMainOption) {
        return absl::NotFoundError(option.value());
      }
    }
    return absl::NotFoundError("the set does not say why");
  }
  ExecutorOptions options;
  options.threads = 2;
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<GraphExecutor> executor,
                         CreateExecutor(model, options));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                         MakeInputs(*executor, folder));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs,
                         executor->Run(inputs));
  // Twice: nothing of a run may stay in the way of the next.
  for (int i = 0; i < 2; ++i) {
    INGOT_RETURN_IF_ERROR(testing_support::CheckMain(model, inputs, outputs));
  }
  int symbolic = 0;
  for (const TensorInfo& info : executor->inputs()) {
    for (const int64_t size : info.shape) symbolic += size < 0 ? 1 : 0;
  }
  return symbolic;
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: compare_main MODEL.so [TEST_DATA]\n");
    return 2;
  }
  const absl::StatusOr<int> symbolic =
      ingot::Compare(argv[1], argc > 2 ? argv[2] : nullptr);
  if (symbolic.ok()) {
    printf(*symbolic > 0 ? "same, %d symbolic dimensions\n" : "same\n",
           *symbolic);
    return 0;
  }
  const absl::Status& status = symbolic.status();
  printf("%s%s\n", absl::IsNotFound(status) ? "no main: " : "",
         std::string(status.message()).c_str());
  return 1;
}
