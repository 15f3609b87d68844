// Language models, a prompt and word by word after it, against ONNX Runtime.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "artifact/blob.h"
#include "backends/testing/run_model.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "tests/onnxruntime/decoder_steps.h"
#include "tests/onnxruntime/session.h"

// Counts what this program allocates.
static int64_t allocations = 0;

void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  std::abort();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace ingot {
namespace {

using onnx_frontend::ExpectNear;

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
    return NothingKept(GetParam(), outputs_.size() - 1);
  }

  // ONNX Runtime's results for these words after those that it was given.
  std::vector<Tensor> Expected(const Words& words) {
    auto made =
        session_->Run(inputs_, InputsOf(inputs_, words, kept_), outputs_);
    EXPECT_TRUE(made.ok()) << made.status();
    if (made.ok()) kept_.assign(made->begin() + 1, made->end());
    return *std::move(made);
  }

  // Where data are rounded to bytes, a number between two may go either way.
  static void ExpectSame(const std::vector<Tensor>& actual,
                         const std::vector<Tensor>& expected) {
    const float tolerance = GetParam() == "llama_tiny" ? 2e-3f : 2e-4f;
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_EQ(actual[i].TypeString(), expected[i].TypeString());
      const auto a = actual[i].values<float>();
      const auto e = expected[i].values<float>();
      ExpectNear({a.begin(), a.end()}, {e.begin(), e.end()}, tolerance);
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
  for (const Words& words : DecoderSteps()) {
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
  std::vector<Words> steps = DecoderSteps();
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
  // Memory that grows with the words grows in steps.
  EXPECT_LE(runs_that_allocate, 12);
  EXPECT_LT(executor_->storage_bytes(), 4 * state->bytes() + state->bytes());
  // The beginning of another text, and one that does not fit.
  kept_ = EmptyKept();
  const Words first = DecoderSteps()[0];
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
