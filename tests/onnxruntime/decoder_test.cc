// Language models, a prompt and word by word after it, against ONNX Runtime.
#include <memory>
#include <string>
#include <vector>

#include "artifact/blob.h"
#include "backends/testing/run_model.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "tests/onnxruntime/session.h"

namespace ingot {
namespace {

using onnx_frontend::ExpectNear;
using onnx_frontend::Longs;

constexpr int64_t kVocabulary = 256;

// The words of one run, after `past` others.
struct Words {
  std::vector<int64_t> ids;
  int64_t past;
};

// What the model's inputs are called, and their values; `cache` are those that
// hold what was kept of the words before, in the order of the outputs.
std::vector<Tensor> InputsOf(absl::Span<const std::string> names,
                             const Words& words,
                             absl::Span<const Tensor> cache) {
  const auto count = static_cast<int64_t>(words.ids.size());
  std::vector<int64_t> places(count);
  for (int64_t i = 0; i < count; ++i) places[i] = words.past + i;
  std::vector<Tensor> inputs;
  size_t next = 0;
  for (const std::string& name : names) {
    if (name == "input_ids") {
      inputs.push_back(Longs({1, count}, words.ids));
    } else if (name == "position_ids") {
      inputs.push_back(Longs({1, count}, places));
    } else if (name == "attention_mask") {
      inputs.push_back(Longs({1, words.past + count},
                             std::vector<int64_t>(words.past + count, 1)));
    } else {
      inputs.push_back(cache[next++]);
    }
  }
  return inputs;
}

// A prompt of five words, single ones, and three at once.
std::vector<Words> Steps() {
  std::vector<Words> steps = {{{72, 101, 108, 108, 111}, 0}};
  int64_t word = 44;
  for (int64_t past = 5; past < 12; ++past) {
    steps.push_back({{word}, past});
    word = (word * 37 + 11) % kVocabulary;
  }
  steps.push_back({{1, 2, 3}, 12});
  steps.push_back({{4}, 15});
  return steps;
}

// The inputs that hold the cache, without a word in them.
std::vector<Tensor> EmptyCache(const GraphExecutor& executor) {
  std::vector<Tensor> cache;
  for (const TensorInfo& info : executor.inputs()) {
    if (info.shape.size() != 4) continue;
    cache.push_back(
        *Tensor::Empty(info.dtype, {1, info.shape[1], 0, info.shape[3]}));
  }
  return cache;
}

class DecoderTest : public testing::TestWithParam<std::string> {};

TEST_P(DecoderTest, AsOnnxRuntime) {
  const std::string path = "examples/generate/" + GetParam() + ".onnx";
  auto session = onnxruntime::Session::Open(path);
  ASSERT_TRUE(session.ok()) << session.status();
  const std::vector<std::string> inputs = *(*session)->InputNames();
  const std::vector<std::string> outputs = *(*session)->OutputNames();

  const auto file = Blob::MapFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  absl::StatusOr<relay::Module> module = ImportOnnx(*file);
  ASSERT_TRUE(module.ok()) << module.status();
  auto executor = testing_support::CompileAndOpen(&*module, "llvm");
  ASSERT_TRUE(executor.ok()) << executor.status();
  std::vector<std::string> names;
  for (const TensorInfo& info : (*executor)->inputs()) {
    names.push_back(info.name);
  }

  std::vector<Tensor> cache = EmptyCache(**executor);
  std::vector<Tensor> kept = cache;  // ONNX Runtime's
  for (const Words& words : Steps()) {
    SCOPED_TRACE(words.past);
    const auto expected =
        (*session)->Run(inputs, InputsOf(inputs, words, kept), outputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto actual = (*executor)->Run(InputsOf(names, words, cache));
    ASSERT_TRUE(actual.ok()) << actual.status();
    ASSERT_EQ(actual->size(), expected->size());
    for (size_t i = 0; i < actual->size(); ++i) {
      ASSERT_EQ((*actual)[i].TypeString(), (*expected)[i].TypeString());
      const auto a = (*actual)[i].values<float>();
      const auto e = (*expected)[i].values<float>();
      ExpectNear({a.begin(), a.end()}, {e.begin(), e.end()}, 2e-4f);
    }
    cache.assign(actual->begin() + 1, actual->end());
    kept.assign(expected->begin() + 1, expected->end());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderTest,
                         testing::Values("gpt2_tiny", "llama_tiny"),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace ingot
