#include "backends/library_calls/testing/library_test.h"

#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/device/testing/device_sets.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/parser.h"

namespace ingot::testing_support {

std::string MainOf(const std::string& inputs, const std::string& body) {
  return absl::StrCat("module {\n  func @main(", inputs, ") -> (%y) {\n    ",
                      body, "\n  }\n}\n");
}

std::string MadeBy(const std::string& kind, const std::string& model) {
  const auto set = CompileText(model, kind + ",llvm");
  EXPECT_TRUE(set.ok()) << set.status();
  if (!set.ok()) return "";
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.loader == kind) return std::string(artifact.content.view());
  }
  return "";
}

std::vector<Tensor> RandomInputs(const relay::Module& module) {
  std::vector<Tensor> inputs;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const relay::Node* input : module.main()->inputs) {
    Tensor x = *Tensor::Empty(DataType::Float(32),
                              *relay::ConstShape(input->outputs[0].shape));
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      x.mutable_data<float>()[i] = normal(random);
    }
    inputs.push_back(std::move(x));
  }
  return inputs;
}

void LibraryTest::ExpectRight(const std::string& model,
                              const std::string& targets, int threads) {
  const auto module = relay::ReadModule(model);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<Tensor> inputs = RandomInputs(**module);
  const auto expected =
      relay::EvaluateFunction(**module, *(*module)->main(), inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto set = CompileText(model, targets);
  ASSERT_TRUE(set.ok()) << set.status();
  const auto loaded = StoreAndLoad(*set);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const auto run = [&] {
    const auto executor = CreateExecutor(*loaded);
    ASSERT_TRUE(executor.ok()) << executor.status();
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto actual = (*executor)->Run(inputs);
      ASSERT_TRUE(actual.ok()) << actual.status();
      const auto want = (*expected)[0].values<float>();
      const auto got = (*actual)[0].values<float>();
      ASSERT_EQ(want.size(), got.size());
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_NEAR(got[i], want[i], 1e-4) << i << " of " << model;
      }
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
}

}  // namespace ingot::testing_support
