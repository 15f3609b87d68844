// The weights that the function of a whole model finds are those of its set.

#include <algorithm>
#include <string>
#include <vector>

#include "backends/testing/check_main.h"
#include "backends/testing/run_model.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/safetensors_writer.h"

namespace ingot {
namespace {

using testing_support::CheckMain;
using testing_support::RunModel;
using testing_support::StoreAndLoad;

Tensor Row(const std::vector<float>& values) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32),
                                 {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

class WeightsTest : public testing::TestWithParam<const char*> {
 protected:
  // y = x * w + b, of four elements.
  ArtifactSet Compile() {
    auto module = relay::ReadModule(R"(module {
  func @main(%x: f32[4]) -> (%y: "y") {
    %w = const f32[4] {1, 2, 3, 4}
    %b = const f32[4] {5, 6, 7, 8}
    %p = mul(%x, %w)
    %y = add(%p, %b)
  }
})");
    EXPECT_TRUE(module.ok()) << module.status();
    CompileOptions options;
    options.target_text = GetParam();
    options.targets = *ParseTargets(GetParam());
    auto set = CompileModule(module->get(), "scale", "",
                             testing_support::BuiltinTargets(), options);
    EXPECT_TRUE(set.ok()) << set.status();
    return *std::move(set);
  }

  // The set with other weights.
  static ArtifactSet WithWeights(const ArtifactSet& set,
                                 const NamedTensors& weights) {
    ArtifactSet changed;
    changed.mutable_provenance() = set.provenance();
    for (Artifact artifact : set.artifacts()) {
      if (artifact.loader == kConstantsLoader) {
        artifact.content = *SafetensorsToBlob(weights);
      }
      EXPECT_TRUE(changed.Add(artifact).ok());
    }
    return changed;
  }

  static NamedTensors WeightsOf(const ArtifactSet& set) {
    for (const Artifact& artifact : set.artifacts()) {
      if (artifact.loader == kConstantsLoader) {
        return *ReadSafetensors(artifact.content);
      }
    }
    ADD_FAILURE() << "no weights";
    return {};
  }
};

TEST_P(WeightsTest, OtherValuesInTheSameLayoutAreUsed) {
  const ArtifactSet set = Compile();
  NamedTensors weights = WeightsOf(set);
  ASSERT_EQ(weights.size(), 2u);
  for (auto& [name, tensor] : weights) tensor = Row({0.5f, 0.5f, 0.5f, 0.5f});
  const auto model = StoreAndLoad(WithWeights(set, weights));
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE(testing_support::HasMain(*model));
  const std::vector<Tensor> inputs = {Row({1, 2, 3, 4})};
  // RunModel compares both ways.
  const auto outputs = RunModel(*model, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].data<float>()[3], 2.5f);
}

TEST_P(WeightsTest, AnotherLayoutIsAnErrorOfTheCall) {
  const ArtifactSet set = Compile();
  NamedTensors weights = WeightsOf(set);
  weights.emplace("aaa", Row({0, 0, 0, 0}));
  const auto model = StoreAndLoad(WithWeights(set, weights));
  ASSERT_TRUE(model.ok()) << model.status();
  const Tensor x = Row({1, 2, 3, 4}), y = Row({6, 10, 16, 24});
  // The executor finds them by name.
  auto executor = CreateExecutor(*model);
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto outputs = (*executor)->Run({x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].data<float>()[3], 24.0f);
  const absl::Status called = CheckMain(*model, {x}, {y});
  EXPECT_THAT(
      std::string(called.message()),
      testing::HasSubstr("does not have the weights that it was compiled for"));
}

INSTANTIATE_TEST_SUITE_P(Targets, WeightsTest, testing::Values("llvm", "c"));

}  // namespace
}  // namespace ingot
