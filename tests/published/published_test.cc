// Published models with real weights, fetched by their packages, against what
// ONNX Runtime computed (references.json; make_references.mjs says how). A
// model is compiled once, whatever the shapes of its inputs.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/testing/run_model.h"
#include "compiler/driver/compile.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/executor/executor.h"

namespace ingot {
namespace {

using nlohmann::json;

// Relative to the largest element of an output.
constexpr double kTolerance = 1e-3;

// The two formulas of make_references.mjs.
float Element(uint32_t i, float scale) {
  const uint32_t hash = (i + 1) * 2654435761u;
  return static_cast<float>((hash >> 8) / 8388608.0 - 1) * scale;
}

float Stroke(int64_t i, int64_t height, int64_t width) {
  const int64_t x = i % width, y = i / width % height;
  const bool line = y % 40 >= 12 && y % 40 < 28 && x >= 16 && x < width - 16;
  return line && (x % 10 < 3 || (y % 8 < 2 && x % 10 < 7)) ? -1 : 1;
}

Tensor MakeInput(const json& input) {
  const std::vector<int64_t> shape = input["shape"];
  if (input["type"] == "i64") {
    Tensor tensor = *Tensor::Empty(DataType::Int(64), shape);
    std::fill_n(tensor.mutable_data<int64_t>(), tensor.NumElements(),
                input["value"].get<int64_t>());
    return tensor;
  }
  Tensor tensor = *Tensor::Empty(DataType::Float(32), shape);
  float* data = tensor.mutable_data<float>();
  const bool strokes = input.value("strokes", false);
  const float scale = input.value("scale", 1.0f);
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    data[i] = strokes ? Stroke(i, shape[shape.size() - 2], shape.back())
                      : Element(static_cast<uint32_t>(i), scale);
  }
  return tensor;
}

// The paths of models that the build gives: MODEL=PATH.
std::map<std::string, std::string> ModelPaths() {
  std::map<std::string, std::string> paths;
  const std::string all = getenv("MODELS");
  for (size_t start = 0; start < all.size();) {
    const size_t end = std::min(all.find(' ', start), all.size());
    const std::string word = all.substr(start, end - start);
    paths[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    start = end + 1;
  }
  return paths;
}

std::vector<json> References() {
  std::ifstream file(getenv("REFERENCES"));
  return json::parse(file);
}

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

void CheckOutput(const Tensor& got, const json& expected) {
  ASSERT_EQ(got.dtype(), DataType::Float(32));
  const std::vector<int64_t> shape = expected["shape"];
  ASSERT_EQ(std::vector<int64_t>(got.shape().begin(), got.shape().end()),
            shape);
  const float* data = got.data<float>();
  const double max = expected["max_magnitude"];
  double sum = 0;
  for (int64_t i = 0; i < got.NumElements(); ++i) sum += std::fabs(data[i]);
  EXPECT_NEAR(sum / got.NumElements(), expected["mean_magnitude"].get<double>(),
              kTolerance * max);
  for (const auto& [index, value] : expected["samples"].items()) {
    EXPECT_NEAR(data[std::stoll(index)], value.get<double>(), kTolerance * max)
        << "element " << index;
  }
}

class PublishedModelTest
    : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(PublishedModelTest, ComputesWhatOnnxRuntimeComputes) {
  const auto& [model, target] = GetParam();
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
      CheckOutput(*output, outputs[k]);
    }
  }
  EXPECT_GT(cases, 0) << "references.json has nothing of " << model;
}

std::vector<std::string> Models() {
  std::vector<std::string> names;
  for (const auto& [name, path] : ModelPaths()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Targets, PublishedModelTest,
                         ::testing::Combine(::testing::ValuesIn(Models()),
                                            ::testing::Values("llvm", "llvmjit",
                                                              "c")),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" +
                                  std::get<1>(info.param);
                         });

}  // namespace
}  // namespace ingot
