// `ingot bisect` finds each of a hundred planted miscompiles: in passes over
// the model, in lowering and passes over loops, and in code.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/relay/passes/pass.h"
#include "runtime/tensor.h"
#include "tests/bisect/models.h"
#include "tests/pipeline/cli_fixture.h"
#include "tests/pipeline/models.h"
#include "tools/ingot/npy.h"

namespace ingot {
namespace {

constexpr int kMostRuns = 20;

// The answer to one miscompile.
struct Answer {
  std::string planted;  // what the process says that it spoiled
  nlohmann::json json;
  std::string text;
};

class PlantedTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    unsetenv("INGOT_PLANT");
    models_ = WriteBisectModels(Path(""));
    for (const std::string& model : models_) WriteTestData(model);
  }

  void TearDown() override {
    unsetenv("INGOT_PLANT");
    CliTest::TearDown();
  }

  // What the model computes where nothing is planted, by the interpreter's
  // leave, as ONNX's test data.
  void WriteTestData(const std::string& model) {
    const std::string path = "@" + model + ".onnx";
    Do({"verify", path, "--reference=" + Path(model + ".onnx"), "--quiet"});
    const std::string set = Path(model + "_data/test_data_set_0");
    std::filesystem::create_directories(set);
    // Each model has one input and one output.
    const std::map<std::string, std::vector<int64_t>> inputs = {
        {"residual", {1, 3, 12, 12}}, {"mlp", {2, 16}},
        {"attention", {1, 6, 16}},    {"any_batch", {3, 12}},
        {"decoder", {1, 8, 5, 5}},    {"recurrent", {4, 1, 6}}};
    const std::vector<int64_t>& shape = inputs.at(model);
    absl::StatusOr<Tensor> x = Tensor::Empty(DataType::Float(32), shape);
    const std::vector<float> numbers = Numbers(model, x->NumElements());
    std::copy(numbers.begin(), numbers.end(), x->mutable_data<float>());
    WriteFileBytes(Path(model + ".npy"), *FormatNpy(*x));
    const bool is_image = model == "residual";
    Do({"run", path,
        absl::StrCat("--input=", is_image ? "image" : "x", ":",
                     Path(model + ".npy")),
        "--output-dir=@" + model + "_out", "--quiet"});
    WriteTensorProto(set + "/input_0.pb", "x", shape, numbers);
    const std::string out = Path(model + "_out");
    absl::StatusOr<Tensor> y =
        ParseNpy(ReadFile(out + "/" + FilesIn(out).at(0)));
    ASSERT_TRUE(y.ok()) << y.status();
    WriteTensorProto(set + "/output_0.pb", "y",
                     {y->shape().begin(), y->shape().end()},
                     {y->values<float>().begin(), y->values<float>().end()});
  }

  // Bisects with this planted. No answer when nothing was planted or it does
  // not change the outputs.
  std::optional<Answer> Bisect(const std::string& plant,
                               const std::string& model,
                               const std::string& target) const {
    setenv("INGOT_PLANT", plant.c_str(), 1);
    const CommandResult result =
        Ingot({"bisect", "@" + model + ".onnx",
               "--test-data=" + Path(model + "_data"), "--target=" + target,
               "--quiet", "--json"});
    unsetenv("INGOT_PLANT");
    const std::vector<std::string> lines =
        absl::StrSplit(absl::StripSuffix(result.out, "\n"), '\n');
    Answer answer;
    answer.text = result.out;
    answer.json = nlohmann::json::parse(lines.back(), nullptr, false);
    if (!answer.json.is_object()) {
      ADD_FAILURE() << plant << " in " << model << ": " << result.err;
      return std::nullopt;
    }
    const size_t at = result.err.find("planted: ");
    if (answer.json["ok"] == true) return std::nullopt;
    EXPECT_EQ(result.exit, 1);
    if (at == std::string::npos) {
      ADD_FAILURE() << plant << " in " << model << ": " << result.out;
      return std::nullopt;
    }
    answer.planted =
        result.err.substr(at + 9, result.err.find('\n', at) - at - 9);
    EXPECT_LE(answer.json["runs"], kMostRuns);
    return answer;
  }

  // The kernels whose loops a compilation makes, by the model.
  std::vector<std::string> KernelsOf(const std::string& model,
                                     const std::string& target) const {
    const std::string folder = absl::StrCat("ir_", model, "_", target);
    Do({"compile", "@" + model + ".onnx", "-o", "@x.ingot",
        "--target=" + target, "--dump-ir=@" + folder, "--quiet"});
    return FilesIn(Path(folder + "/tir"));
  }

  std::vector<std::string> models_;
};

// Whether a kernel only changes a layout: next to it there may be no node of
// the model, but an input.
bool IsBetweenNodes(const std::string& kernel, const std::string& model) {
  return kernel.rfind(model + "_layout_transform", 0) == 0;
}

TEST_F(PlantedTest, NothingIsFoundWhereNothingIsPlanted) {
  for (const std::string& model : models_) {
    EXPECT_FALSE(Bisect("none - 0 -", model, "llvm").has_value()) << model;
  }
}

// 40, in each of the passes again and again.
TEST_F(PlantedTest, PassesOverTheModel) {
  const std::vector<std::string> passes = relay::DefaultPasses(2);
  int located = 0, masked = 0;
  for (int i = 0; located < 40; ++i) {
    ASSERT_LT(i, 60) << located << " located, " << masked << " masked";
    const std::string& model = models_[i % models_.size()];
    const int number = (i * 5) % static_cast<int>(passes.size());
    const std::string& pass = passes[number];
    const auto occurrence =
        std::count(passes.begin(), passes.begin() + number, pass);
    const std::string plant =
        absl::StrCat("pass ", pass, " ", occurrence, " ", i * 5 + i / 3);
    SCOPED_TRACE(absl::StrCat(plant, " in ", model));
    const std::optional<Answer> answer = Bisect(plant, model, "llvm");
    if (!answer.has_value()) {
      ++masked;
      continue;
    }
    SCOPED_TRACE(answer->text + "planted: " + answer->planted);
    ++located;
    EXPECT_EQ(answer->json["culprit"], "module pass");
    EXPECT_EQ(answer->json["pass"], pass);
    EXPECT_EQ(answer->json["pass_number"], number + 1);
    const std::set<std::string> planted =
        absl::StrSplit(answer->planted, ", ", absl::SkipEmpty());
    bool names_node = false;
    for (const std::string node : answer->json["nodes"]) {
      names_node = names_node || planted.count(node) > 0;
    }
    // What a pass made by itself is of no node of the model.
    const bool has_no_node =
        planted.empty() && answer->json["is_between_nodes"] == true;
    EXPECT_TRUE(names_node || has_no_node);
  }
}

// 30, in the kernels of each model in turn.
TEST_F(PlantedTest, LoweringAndPassesOverLoops) {
  const std::vector<std::string> passes = {"lower", "vectorize_loops",
                                           "unroll_loops", "plan_workspaces"};
  std::map<std::string, std::vector<std::string>> kernels;
  for (const std::string& model : models_) {
    kernels[model] = KernelsOf(model, "llvm");
    ASSERT_FALSE(kernels[model].empty());
  }
  int located = 0, masked = 0;
  for (size_t i = 0; located < 30; ++i) {
    ASSERT_LT(i, 45U) << located << " located, " << masked << " masked";
    const std::string& model = models_[i % models_.size()];
    const std::vector<std::string>& some = kernels[model];
    const std::string& kernel = some[(i / models_.size()) % some.size()];
    const std::string& pass = passes[(i + i / 6) % passes.size()];
    const std::string plant = absl::StrCat("loops ", pass, " 0 ", kernel);
    SCOPED_TRACE(absl::StrCat(plant, " in ", model));
    const std::optional<Answer> answer = Bisect(plant, model, "llvm");
    if (!answer.has_value()) {
      ++masked;
      continue;
    }
    SCOPED_TRACE(answer->text);
    ++located;
    EXPECT_EQ(answer->json["kernel"], kernel);
    EXPECT_TRUE(!answer->json["nodes"].empty() ||
                IsBetweenNodes(kernel, model));
    if (pass == "lower") {
      EXPECT_EQ(answer->json["culprit"], "lowering");
    } else {
      EXPECT_EQ(answer->json["culprit"], "loop pass");
      EXPECT_EQ(answer->json["pass"], pass);
    }
  }
}

// 30, of objects, of C, and of a target that makes code right from nodes.
TEST_F(PlantedTest, Code) {
  struct Kernel {
    std::string model, target, name, artifact;
  };
  std::vector<Kernel> kernels;
  for (const std::string& model : models_) {
    for (const std::string target : {"planted_llvm", "planted_c"}) {
      for (const std::string& name : KernelsOf(model, target)) {
        kernels.push_back(
            {model, target, name, target == "planted_c" ? ".c" : ".o"});
      }
    }
  }
  for (const std::string& model : {"attention", "decoder", "residual"}) {
    kernels.push_back({model, "planted_ccompiler,llvm",
                       model + "_planted_ccompiler_0", ".c"});
  }
  int located = 0;
  for (size_t i = 0; i < kernels.size() && located < 30; ++i) {
    // The last ones first, which are the few of another kind.
    const Kernel& kernel = kernels[kernels.size() - 1 - i];
    const std::string plant = "code - 0 " + kernel.name;
    SCOPED_TRACE(absl::StrCat(plant, " in ", kernel.model));
    const std::optional<Answer> answer =
        Bisect(plant, kernel.model, kernel.target);
    // The first three are regions.
    EXPECT_TRUE(answer.has_value() || i >= 3);
    if (!answer.has_value()) continue;
    SCOPED_TRACE(answer->text);
    ++located;
    EXPECT_EQ(answer->json["culprit"], "code");
    EXPECT_EQ(answer->json["kernel"], kernel.name);
    EXPECT_TRUE(!answer->json["nodes"].empty() ||
                IsBetweenNodes(kernel.name, kernel.model));
    ASSERT_EQ(answer->json["artifacts"].size(), 1);
    EXPECT_THAT(answer->json["artifacts"][0].get<std::string>(),
                testing::EndsWith(kernel.artifact));
  }
  EXPECT_EQ(located, 30);
}

// Neither a kernel nor a pass.
TEST_F(PlantedTest, WeightsInTheSet) {
  for (const std::string model : {"mlp", "residual"}) {
    const std::optional<Answer> answer =
        Bisect("weights - 0 all", model, "llvm");
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->json["culprit"], "plan") << answer->text;
  }
}

// The data may be what is wrong.
TEST_F(PlantedTest, WrongDataIsNoMiscompile) {
  const std::string set = Path("mlp_data/test_data_set_0");
  WriteTensorProto(set + "/output_0.pb", "y", {2, 4},
                   std::vector<float>(8, 0.5F));
  const CommandResult result =
      Ingot({"bisect", "@mlp.onnx", "--test-data=@mlp_data", "--quiet"});
  EXPECT_EQ(result.exit, 1);
  EXPECT_THAT(result.out, testing::HasSubstr("or the data and the tolerance"));
  EXPECT_THAT(result.err, testing::HasSubstr("import is wrong"));
  // Without it the interpreter says what is right.
  Do({"bisect", "@mlp.onnx", "--quiet"});
}

}  // namespace
}  // namespace ingot
