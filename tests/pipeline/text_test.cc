// Models of text on every target that makes code for this machine, with what
// Python's split() and RE2 say of the same strings.
#include <memory>
#include <string>
#include <vector>

#include "backends/testing/run_model.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/text_tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using onnx_frontend::StringsOf;
using onnx_frontend::TextTensor;
using testing::ElementsAre;

class TextTest : public testing::TestWithParam<const char*> {
 protected:
  // Runs the model on one tensor of strings.
  static absl::StatusOr<std::vector<Tensor>> Run(
      onnx_frontend::ModelBuilder* builder, const Tensor& x) {
    absl::StatusOr<relay::Module> module = ImportOnnx(builder->Build());
    if (!module.ok()) return module.status();
    absl::StatusOr<std::unique_ptr<GraphExecutor>> executor =
        testing_support::CompileAndOpen(&*module, GetParam());
    if (!executor.ok()) return executor.status();
    return (*executor)->Run({x});
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, TextTest,
                         testing::Values("llvm", "llvmjit", "c"),
                         [](const auto& info) { return info.param; });

// Words, and which of them are names; how many and how wide only a run knows.
TEST_P(TextTest, SplitsAndMatches) {
  onnx_frontend::ModelBuilder b(20);
  b.Input("x", {"N"}, onnx::TensorProto::STRING);
  b.Node("StringSplit", {"x"}, {"words", "counts"});
  onnx::NodeProto* match = b.Node("RegexFullMatch", {"words"}, {"names"});
  onnx_frontend::SetString(match, "pattern", R"([A-ZÉ][\w-]*\.?|)");
  for (const char* name : {"words", "counts", "names"}) b.Output(name);

  absl::StatusOr<std::vector<Tensor>> y =
      Run(&b, TextTensor({3}, {" Émile  and Anne-Marie.", "", "the  Queen"}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].shape(), ElementsAre(3, 3, 24));
  EXPECT_THAT(StringsOf((*y)[0]), ElementsAre("Émile", "and", "Anne-Marie.", "",
                                              "", "", "the", "Queen", ""));
  EXPECT_THAT((*y)[1].values<int64_t>(), ElementsAre(3, 0, 2));
  EXPECT_THAT((*y)[2].values<bool>(), ElementsAre(true, false, true, true, true,
                                                  true, false, true, true));

  y = Run(&b, TextTensor({2}, {"", "  "}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].shape(), ElementsAre(2, 0, 2));
  EXPECT_THAT((*y)[1].values<int64_t>(), ElementsAre(0, 0));
  EXPECT_THAT((*y)[2].shape(), ElementsAre(2, 0));
}

TEST_P(TextTest, SplitsAtDelimiters) {
  onnx_frontend::ModelBuilder b(20);
  b.Input("x", {"2"}, onnx::TensorProto::STRING);
  onnx::NodeProto* split = b.Node("StringSplit", {"x"}, {"y", "counts"});
  onnx_frontend::SetString(split, "delimiter", "::");
  onnx_frontend::SetInt(split, "maxsplit", 2);
  for (const char* name : {"y", "counts"}) b.Output(name);
  absl::StatusOr<std::vector<Tensor>> y =
      Run(&b, TextTensor({2}, {"a:::b::::c", "std"}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT(StringsOf((*y)[0]), ElementsAre("a", ":b", "::c", "std", "", ""));
  EXPECT_THAT((*y)[1].values<int64_t>(), ElementsAre(3, 1));
}

// Shapes and widths that only a run knows.
TEST_P(TextTest, MovesAndCompares) {
  onnx_frontend::ModelBuilder b(20);
  b.Input("x", {"N"}, onnx::TensorProto::STRING);
  b.Node("StringSplit", {"x"}, {"words", ""});
  b.Node("Transpose", {"words"}, {"turned"});
  b.Ints("zero", {0});
  b.Node("Gather", {"turned", "zero"}, {"first"});
  b.Node("Equal", {"first", "x"}, {"single"});
  for (const char* name : {"turned", "single"}) b.Output(name);
  absl::StatusOr<std::vector<Tensor>> y =
      Run(&b, TextTensor({3}, {"one two", "three", "four "}));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].shape(), ElementsAre(2, 3, 7));
  EXPECT_THAT(StringsOf((*y)[0]),
              ElementsAre("one", "three", "four", "two", "", ""));
  EXPECT_THAT((*y)[1].values<bool>(), ElementsAre(false, true, false));
}

// One string, of no dimensions.
TEST_P(TextTest, ConcatenatesSingleStrings) {
  onnx_frontend::ModelBuilder b(20);
  b.Input("x", {}, onnx::TensorProto::STRING);
  b.Node("StringConcat", {"x", "x"}, {"y"});
  b.Output("y");
  for (const char* text : {"a", "", "Ärger"}) {
    absl::StatusOr<std::vector<Tensor>> y = Run(&b, TextTensor({}, {text}));
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_THAT(StringsOf((*y)[0]), ElementsAre(std::string(text) + text));
  }
}

}  // namespace
}  // namespace ingot
