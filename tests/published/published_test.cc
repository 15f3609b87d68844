// Published models with real weights, fetched by their packages, against what
// ONNX Runtime computed. A model is compiled once, whatever the shapes of its
// inputs.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/opencl/device.h"
#include "backends/testing/run_model.h"
#include "compiler/driver/compile.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/executor/executor.h"
#include "tests/published/references.h"

namespace ingot {
namespace {

using nlohmann::json;

std::unique_ptr<GraphExecutor> Compile(const std::string& path,
                                       const std::string& target) {
  CompileOptions options;
  options.targets = *ParseTargets(target);
  absl::StatusOr<ArtifactSet> set =
      CompileModel(path, testing_support::BuiltinFrontends(),
                   testing_support::BuiltinTargets(), options);
  if (!set.ok()) {
    ADD_FAILURE() << set.status();
    return nullptr;
  }
  absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
      testing_support::Open(*set);
  if (!executor.ok()) {
    ADD_FAILURE() << executor.status();
    return nullptr;
  }
  return *std::move(executor);
}

// The device takes models whose shapes are known. PoCL makes one of the CPU.
constexpr char kOnDevice[] = "opencl,llvm";

class PublishedModelTest
    : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(PublishedModelTest, ComputesWhatOnnxRuntimeComputes) {
  const auto& [model, target] = GetParam();
  if (target == kOnDevice) {
    const auto device = opencl::ClDevice::Open();
    if (!device.ok()) GTEST_SKIP() << device.status().message();
  }
  const std::unique_ptr<GraphExecutor> executor =
      Compile(ModelPaths().at(model), target);
  ASSERT_NE(executor, nullptr);
  int cases = 0;
  for (const json& reference : References()) {
    if (reference["model"] != model) continue;
    ++cases;
    SCOPED_TRACE(reference["inputs"].dump());
    for (const json& input : reference["inputs"]) {
      const absl::Status s = executor->SetInput(
          input["name"].get<std::string>(), MakeInput(input));
      ASSERT_TRUE(s.ok()) << s;
    }
    const absl::Status ran = executor->Run();
    ASSERT_TRUE(ran.ok()) << ran;
    const json& outputs = reference["outputs"];
    ASSERT_EQ(executor->outputs().size(), outputs.size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      SCOPED_TRACE(absl::StrCat("output ", executor->outputs()[k].name));
      EXPECT_EQ(executor->outputs()[k].name, outputs[k]["name"]);
      absl::StatusOr<Tensor> output = executor->GetOutput(k);
      ASSERT_TRUE(output.ok()) << output.status();
      ExpectReference(*output, outputs[k]);
    }
  }
  EXPECT_GT(cases, 0) << "references.json has nothing of " << model;
}

std::vector<std::string> Models() {
  std::vector<std::string> names;
  for (const auto& [name, path] : ModelPaths()) names.push_back(name);
  return names;
}

std::string NameOf(
    const ::testing::TestParamInfo<PublishedModelTest::ParamType>& info) {
  const auto& [model, target] = info.param;
  return absl::StrCat(model, "_", target == kOnDevice ? "opencl" : target);
}

INSTANTIATE_TEST_SUITE_P(Targets, PublishedModelTest,
                         ::testing::Combine(::testing::ValuesIn(Models()),
                                            ::testing::Values("llvm", "llvmjit",
                                                              "c")),
                         NameOf);

INSTANTIATE_TEST_SUITE_P(Devices, PublishedModelTest,
                         ::testing::Combine(::testing::Values("blazeface_front",
                                                              "mlsd_320_tiny"),
                                            ::testing::Values(kOnDevice)),
                         NameOf);

}  // namespace
}  // namespace ingot
