// Loads and runs many models in one process:
//
//   many_models [--limit=SECONDS] MODEL.so[=DATA]...
//
// Loads each linked model, runs it once and keeps it, as a service does that
// starts. DATA is a folder of ONNX's test data with the inputs; otherwise these
// are zeros, and open dimensions are 1. Prints how long loading and running all
// of them took, without reading inputs, and what took longest. Files with the
// same bytes as an earlier one must give the same outputs. Fails if it took
// longer than the limit.
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "artifact/blob.h"
#include "artifact/sha256.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"
#include "tools/ingot/output.h"
#include "tools/ingot/test_data.h"

namespace ingot {
namespace {

struct Model {
  std::string path, data;  // of its inputs; empty: zeros
  LoadedModel loaded;      // outlives the executor
  std::unique_ptr<GraphExecutor> executor;
  std::vector<Tensor> outputs;
};

struct Times {
  absl::Duration load, run;
  absl::Duration slowest;
  std::string slowest_name;
};

absl::StatusOr<std::vector<Tensor>> Inputs(const GraphExecutor& executor,
                                           const std::string& folder) {
  std::vector<Tensor> inputs;
  if (!folder.empty()) {
    INGOT_ASSIGN_OR_RETURN(const std::vector<TestDataSet> sets,
                           FindTestData(folder));
    for (const std::string& path : sets[0].inputs) {
      INGOT_ASSIGN_OR_RETURN(Tensor tensor, ReadTensorProtoFile(path));
      inputs.push_back(std::move(tensor));
    }
    return inputs;
  }
  for (const TensorInfo& info : executor.inputs()) {
    std::vector<int64_t> shape = info.shape;
    for (int64_t& size : shape) size = size < 0 ? 1 : size;
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(info.dtype, shape));
    if (tensor.bytes() > 0) {
      memset(tensor.mutable_raw_data(), 0, tensor.bytes());
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

absl::Status LoadAndRun(const LoaderRegistry& loaders, Model* model,
                        Times* times) {
  const absl::Time start = absl::Now();
  INGOT_ASSIGN_OR_RETURN(model->loaded, LoadPath(model->path, loaders));
  INGOT_ASSIGN_OR_RETURN(model->executor, CreateExecutor(model->loaded));
  const absl::Duration load = absl::Now() - start;
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                         Inputs(*model->executor, model->data));
  const absl::Time ready = absl::Now();
  INGOT_ASSIGN_OR_RETURN(model->outputs, model->executor->Run(inputs));
  const absl::Duration run = absl::Now() - ready;
  times->load += load;
  times->run += run;
  if (load + run > times->slowest) {
    times->slowest = load + run;
    times->slowest_name = model->path;
  }
  return absl::OkStatus();
}

// Compares, bit for bit, the outputs of files that have the same bytes.
absl::Status CheckCopies(const std::vector<Model>& models) {
  std::map<std::string, const Model*> first;  // by digest
  for (const Model& model : models) {
    INGOT_ASSIGN_OR_RETURN(const Blob file, Blob::MapFile(model.path));
    const auto [known, is_new] = first.emplace(Sha256Hex(file.view()), &model);
    if (is_new) continue;
    const std::vector<Tensor>& expected = known->second->outputs;
    for (size_t k = 0; k < expected.size(); ++k) {
      const Tensor& got = model.outputs[k];
      if (got.bytes() == expected[k].bytes() &&
          memcmp(got.raw_data(), expected[k].raw_data(), got.bytes()) == 0) {
        continue;
      }
      return absl::DataLossError(absl::StrCat(model.path, ": output ", k,
                                              " is not what ",
                                              known->second->path, " gave"));
    }
  }
  return absl::OkStatus();
}

// Without a limit, `limit` is infinite.
absl::Status Run(const std::vector<std::string>& words, absl::Duration limit) {
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterCoreLoaders(&loaders));
  std::vector<Model> models(words.size());
  Times times;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    models[i].path = parts.first;
    models[i].data = parts.second;
    const absl::Status s = LoadAndRun(loaders, &models[i], &times);
    if (!s.ok()) {
      return Annotate(s, parts.first);
    }
  }
  const absl::Duration all = times.load + times.run;
  Print(absl::StrCat(
      models.size(), " models: ", HumanTime(absl::ToDoubleSeconds(all)),
      ", of it loading ", HumanTime(absl::ToDoubleSeconds(times.load)),
      " and running each once ", HumanTime(absl::ToDoubleSeconds(times.run)),
      "; longest ", HumanTime(absl::ToDoubleSeconds(times.slowest)), ", ",
      times.slowest_name, "\n"));
  INGOT_RETURN_IF_ERROR(CheckCopies(models));
  if (all <= limit) return absl::OkStatus();
  return absl::DeadlineExceededError(
      absl::StrCat("that is more than --limit=", absl::ToDoubleSeconds(limit)));
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  double seconds = std::numeric_limits<double>::infinity();
  const std::string first = words.empty() ? "" : words[0];
  absl::string_view flag = first;
  if (absl::ConsumePrefix(&flag, "--limit=")) {
    if (!absl::SimpleAtod(flag, &seconds)) seconds = -1;
    words.erase(words.begin());
  }
  if (words.empty() || seconds < 0) {
    ingot::Warn("usage: many_models [--limit=SECONDS] MODEL.so[=DATA]...");
    return 2;
  }
  const absl::Status status = ingot::Run(words, absl::Seconds(seconds));
  if (status.ok()) return 0;
  ingot::Warn(absl::StrCat("many_models: ", std::string(status.message())));
  return 1;
}
