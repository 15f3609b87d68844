// Language models, a prompt and word by word after it, against ONNX Runtime.
#include <cstdint>
#include <cstdlib>
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

// Counts what this program allocates.
static int64_t allocations = 0;

void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

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
    } else if (name == "past_sequence_length") {
      inputs.push_back(Longs({1}, {words.past}));
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

class DecoderTest : public testing::TestWithParam<std::string> {
 protected:
  // The model in ONNX Runtime and compiled, with states.
  void Open(std::vector<StateOption> states) {
    const std::string path = "examples/generate/" + GetParam() + ".onnx";
    auto session = onnxruntime::Session::Open(path);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
    inputs_ = *session_->InputNames();
    outputs_ = *session_->OutputNames();
    const auto file = Blob::MapFile(path);
    ASSERT_TRUE(file.ok()) << file.status();
    ImportOptions options;
    options.states = std::move(states);
    absl::StatusOr<relay::Module> module = ImportOnnx(*file, options);
    ASSERT_TRUE(module.ok()) << module.status();
    auto executor = testing_support::CompileAndOpen(&*module, "llvm");
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
    for (const TensorInfo& info : executor_->inputs()) {
      names_.push_back(info.name);
    }
    kept_ = EmptyKept();
  }

  // ONNX Runtime's cache, without a word in it.
  std::vector<Tensor> EmptyKept() const {
    std::vector<Tensor> kept;
    const bool gpt2 = GetParam() == "gpt2_tiny";
    for (size_t i = 1; i < outputs_.size(); ++i) {
      kept.push_back(
          *Tensor::Empty(DataType::Float(32), {1, gpt2 ? 3 : 2, 0, 16}));
    }
    return kept;
  }

  // What ONNX Runtime makes of these words after those that it was given.
  std::vector<Tensor> Expected(const Words& words) {
    auto made =
        session_->Run(inputs_, InputsOf(inputs_, words, kept_), outputs_);
    EXPECT_TRUE(made.ok()) << made.status();
    if (made.ok()) kept_.assign(made->begin() + 1, made->end());
    return *std::move(made);
  }

  static void ExpectSame(const std::vector<Tensor>& actual,
                         const std::vector<Tensor>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_EQ(actual[i].TypeString(), expected[i].TypeString());
      const auto a = actual[i].values<float>();
      const auto e = expected[i].values<float>();
      ExpectNear({a.begin(), a.end()}, {e.begin(), e.end()}, 2e-4f);
    }
  }

  std::unique_ptr<onnxruntime::Session> session_;
  std::unique_ptr<GraphExecutor> executor_;
  std::vector<std::string> inputs_, outputs_;  // ONNX Runtime's names
  std::vector<std::string> names_;             // of the executor's inputs
  std::vector<Tensor> kept_;                   // by ONNX Runtime
};

TEST_P(DecoderTest, AsOnnxRuntime) {
  Open({});
  std::vector<Tensor> cache = EmptyCache(*executor_);
  for (const Words& words : Steps()) {
    SCOPED_TRACE(words.past);
    const std::vector<Tensor> expected = Expected(words);
    const auto actual = executor_->Run(InputsOf(names_, words, cache));
    ASSERT_TRUE(actual.ok()) << actual.status();
    ExpectSame(*actual, expected);
    cache.assign(actual->begin() + 1, actual->end());
  }
}

// The cache stays where it is: no run copies it, or has memory for that.
TEST_P(DecoderTest, InPlaceAsOnnxRuntime) {
  constexpr int64_t kMostWords = 4096;
  Open({{"past_key_values.*", "present.*", {kMostWords}}});
  ASSERT_EQ(executor_->states().size(), 4u);
  ASSERT_EQ(executor_->outputs().size(), 1u);
  const auto state = executor_->GetState(0);
  ASSERT_TRUE(state.ok()) << state.status();
  std::vector<Words> steps = Steps();
  for (int64_t past = steps.back().past + 1; past < 80; ++past) {
    steps.push_back({{(past * 31) % kVocabulary}, past});
  }
  int runs_that_allocate = 0;
  for (const Words& words : steps) {
    SCOPED_TRACE(words.past);
    const std::vector<Tensor> expected = Expected(words);
    const std::vector<Tensor> inputs = InputsOf(names_, words, {});
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_TRUE(executor_->SetInput(i, inputs[i]).ok());
    }
    const int64_t before = allocations;
    const absl::Status ran = executor_->Run();
    runs_that_allocate += allocations > before ? 1 : 0;
    ASSERT_TRUE(ran.ok()) << ran;
    ExpectSame({*executor_->CopyOutput(0)}, {expected[0]});
    EXPECT_EQ(executor_->GetState(0)->raw_data(), state->raw_data());
  }
  // What grows with the words grows in steps.
  EXPECT_LE(runs_that_allocate, 12);
  EXPECT_LT(executor_->storage_bytes(), 4 * state->bytes() + state->bytes());
  // The beginning of another text, and one that does not fit.
  kept_ = EmptyKept();
  const Words first = Steps()[0];
  const auto again = executor_->Run(InputsOf(names_, first, {}));
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectSame({(*again)[0]}, {Expected(first)[0]});
  const absl::Status full =
      executor_->Run(InputsOf(names_, {{1}, kMostWords}, {})).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kInvalidArgument) << full;
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderTest,
                         testing::Values("gpt2_tiny", "llama_tiny"),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace ingot
