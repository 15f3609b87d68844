// Branches whose results differ in rank, and Squeeze without axes of dimensions
// that only a run knows, which are branches, too: what comes after them may
// make results of one rank again.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

// The type of the first output, or the error.
std::string OutputType(const Blob& model, const ImportOptions& options = {}) {
  absl::StatusOr<relay::Module> module = ImportOnnx(model, options);
  if (!module.ok()) return module.status().ToString();
  if (absl::Status s = relay::Verify(*module); !s.ok()) return s.ToString();
  return relay::ToString(module->main()->outputs[0].type());
}

std::string Error(const ModelBuilder& b) {
  return ImportOnnx(b.Build()).status().ToString();
}

absl::StatusOr<std::vector<Tensor>> RunModel(
    const ModelBuilder& b, const std::vector<Tensor>& inputs) {
  INGOT_ASSIGN_OR_RETURN(relay::Module module, ImportOnnx(b.Build()));
  INGOT_RETURN_IF_ERROR(relay::Verify(module));
  return relay::EvaluateFunction(module, *module.main(), inputs);
}

Tensor Bool(bool value) {
  Tensor tensor = *Tensor::Empty(DataType::Bool(), {});
  *tensor.mutable_data<bool>() = value;
  return tensor;
}

TEST(OpenRank, SqueezeOfWhatMayBeOne) {
  ModelBuilder b;
  b.Input("x", {"n", "1", "4"}).Output("y");
  b.Node("Squeeze", {"x"}, {"y"}, "drop");
  const std::string error = Error(b);
  EXPECT_THAT(error, HasSubstr("node 'drop' (Squeeze)"));
  EXPECT_THAT(error, HasSubstr("'y', which is f32[4] or f32[n, 4]"));
  EXPECT_THAT(error, HasSubstr("--input-shape"));
  ImportOptions options;
  options.input_shapes["x"] = {1, 1, 4};
  EXPECT_EQ(OutputType(b.Build(), options), "f32[4]");
  options.input_shapes["x"] = {2, 1, 4};
  EXPECT_EQ(OutputType(b.Build(), options), "f32[2, 4]");
}

// Models whose results are the sum of what Squeeze leaves of x, and its shape.
ModelBuilder SqueezeThenSum(const std::vector<std::string>& shape) {
  ModelBuilder b;
  b.Input("x", shape).Output("sum").Output("shape");
  b.Node("Squeeze", {"x"}, {"y"}, "drop");
  b.Node("ReduceSum", {"y"}, {"sum"});
  SetInt(b.graph().mutable_node(1), "keepdims", 0);
  b.Node("Shape", {"y"}, {"shape"});
  return b;
}

TEST(OpenRank, SqueezeOfTwoThatMayBeOne) {
  const ModelBuilder b = SqueezeThenSum({"n", "1", "m", "3"});
  for (const int64_t n : {1, 2}) {
    for (const int64_t m : {1, 5, 0}) {
      SCOPED_TRACE(absl::StrCat(n, " ", m));
      const std::vector<float> ones(n * m * 3, 1);
      const auto y = RunModel(b, {Floats({n, 1, m, 3}, ones)});
      ASSERT_TRUE(y.ok()) << y.status();
      EXPECT_THAT((*y)[0].values<float>(), ElementsAre(n * m * 3));
      std::vector<int64_t> left;
      for (const int64_t extent : {n, m, int64_t{3}}) {
        if (extent != 1) left.push_back(extent);
      }
      EXPECT_THAT((*y)[1].values<int64_t>(), ElementsAreArray(left));
    }
  }
}

// One answer serves both dimensions: f32[] and f32[n, n], and nothing between.
TEST(OpenRank, SqueezeOfTwoThatAreOneTogether) {
  ModelBuilder b;
  b.Input("x", {"n", "n"}).Output("y");
  b.Node("Squeeze", {"x"}, {"y"}, "drop");
  EXPECT_THAT(Error(b), HasSubstr("'y', which is f32[] or f32[n, n]"));
}

TEST(OpenRank, SqueezeOfManyThatMayBeOne) {
  EXPECT_THAT(Error(SqueezeThenSum({"a", "b", "c", "d", "a"})),
              AllOf(HasSubstr("node 'drop' (Squeeze)"),
                    HasSubstr("dimensions 0, 1, 2, 3, 4 of f32[a, b, c, d, a]"),
                    HasSubstr("--input-shape")));
}

// The shape of what is left is a result of one rank.
TEST(OpenRank, SqueezeByTheRun) {
  ModelBuilder b;
  b.Input("x", {"n", "1", "2"}).Output("sum").Output("shape");
  b.Node("Squeeze", {"x"}, {"y"});
  b.Node("ReduceSum", {"y"}, {"sum"});
  SetInt(b.graph().mutable_node(1), "keepdims", 0);
  b.Node("Shape", {"y"}, {"shape"});
  const auto one = RunModel(b, {Floats({1, 1, 2}, {3, 4})});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT((*one)[0].values<float>(), ElementsAre(7));
  EXPECT_THAT((*one)[1].values<int64_t>(), ElementsAre(2));
  const auto two = RunModel(b, {Floats({2, 1, 2}, {3, 4, 5, 6})});
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_THAT((*two)[0].values<float>(), ElementsAre(18));
  EXPECT_THAT((*two)[1].values<int64_t>(), ElementsAre(2, 2));
}

// A rank that the nodes after it cannot have is an error of the run.
TEST(OpenRank, SqueezeToARankThatIsRefused) {
  ModelBuilder b;
  b.Input("x", {"n", "1", "2"}).Output("y");
  b.Node("Squeeze", {"x"}, {"s"});
  SetInts(b.Node("Transpose", {"s"}, {"y"}), "perm", {1, 0});
  const auto two = RunModel(b, {Floats({2, 1, 2}, {3, 4, 5, 6})});
  ASSERT_TRUE(two.ok()) << two.status();
  EXPECT_THAT((*two)[0].values<float>(), ElementsAre(3, 5, 4, 6));
  EXPECT_FALSE(RunModel(b, {Floats({1, 1, 2}, {3, 4})}).ok());
}

TEST(OpenRank, SqueezeOfWhatCannotBeOne) {
  ModelBuilder b;
  b.Input("x", {"n", "1"}).Output("y");
  b.Node("Concat", {"x", "x"}, {"two"});
  SetInt(b.graph().mutable_node(0), "axis", 0);
  b.Node("Squeeze", {"two"}, {"y"});
  EXPECT_EQ(OutputType(b.Build()), "f32[n * 2]");
}

// y = c ? x without its first dimension : x
onnx::NodeProto* BranchesOfTwoRanks(ModelBuilder* b) {
  auto* node = b->Node("If", {"c"}, {"y"}, "decide");
  for (const char* side : {"then_branch", "else_branch"}) {
    auto* attribute = node->add_attribute();
    attribute->set_name(side);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    onnx::GraphProto* graph = attribute->mutable_g();
    auto* inner = graph->add_node();
    const bool drops = side[0] == 't';
    inner->set_op_type(drops ? "Squeeze" : "Identity");
    inner->add_input("x");
    if (drops) inner->add_input("first");
    inner->add_output(side);
    graph->add_output()->set_name(side);
  }
  b->Ints("first", {0});
  return node;
}

// Whether the first dimension of x is 1.
void AskWhetherOne(ModelBuilder* b) {
  b->Ints("one", {1});
  b->Node("Shape", {"x"}, {"shape"});
  b->Node("Gather", {"shape", "first"}, {"extent"});
  b->Node("Equal", {"extent", "one"}, {"c"});
}

TEST(OpenRank, BranchesOfTwoRanksWhereTheConditionIsKnown) {
  for (const char* extent : {"1", "3"}) {
    ModelBuilder b;
    b.Input("x", {extent, "4"}).Output("y");
    AskWhetherOne(&b);
    BranchesOfTwoRanks(&b);
    EXPECT_EQ(OutputType(b.Build()), extent[0] == '1' ? "f32[4]" : "f32[3, 4]");
  }
}

TEST(OpenRank, BranchesOfTwoRanksInAResult) {
  ModelBuilder b;
  b.Input("x", {"n", "4"}).Output("z");
  AskWhetherOne(&b);
  BranchesOfTwoRanks(&b);
  b.Node("Relu", {"y"}, {"z"});
  const std::string error = Error(b);
  EXPECT_THAT(error, HasSubstr("node 'decide' (If)"));
  EXPECT_THAT(error, HasSubstr("'z', which is f32[4] or f32[n, 4]"));
  EXPECT_THAT(error, HasSubstr("--input-shape"));
  ImportOptions options;
  options.input_shapes["x"] = {1, 4};
  EXPECT_EQ(OutputType(b.Build(), options), "f32[4]");
}

TEST(OpenRank, BranchesOfTwoRanksOnTheWay) {
  ModelBuilder b;
  b.Input("x", {"1", "4"}).Input("c", {}, onnx::TensorProto::BOOL).Output("z");
  BranchesOfTwoRanks(&b);
  b.Ints("flat", {-1});
  b.Node("Reshape", {"y", "flat"}, {"z"});
  EXPECT_EQ(OutputType(b.Build()), "f32[4]");
}

// A branch in the branches of another: y is x, or x + 1 along an axis more, and
// t, a name that both graphs have, is 10 outside.
onnx::NodeProto* BranchInABranch(ModelBuilder* b, const std::string& outer) {
  b->Floats("t", {1}, {10});
  b->Ints("front", {0});
  onnx::NodeProto* node = b->Node("If", {outer}, {"t_of_branch"}, "around");
  for (const char* side : {"then_branch", "else_branch"}) {
    onnx::GraphProto* graph = AddGraph(node, side);
    onnx::NodeProto* inner = AddNode(graph, "If", {"c"}, "t");
    inner->set_name("inside");
    AddNode(AddGraph(inner, "then_branch"), "Identity", {"x"}, "same");
    inner->mutable_attribute(0)->mutable_g()->add_output()->set_name("same");
    onnx::GraphProto* no = AddGraph(inner, "else_branch");
    AddNode(no, "Add", {"x", "one"}, "sum");
    AddNode(no, "Unsqueeze", {"sum", "front"}, "more");
    no->add_output()->set_name("more");
    AddNode(graph, side[0] == 't' ? "Identity" : "Neg", {"t"}, "result");
    graph->add_output()->set_name("result");
  }
  return node;
}

TEST(OpenRank, TheGraphAroundMakesItOneRank) {
  for (const char* kind : {"known", "run"}) {
    ModelBuilder b;
    b.Input("x", {}).Input("c", {}, onnx::TensorProto::BOOL);
    b.Input("run", {}, onnx::TensorProto::BOOL).Output("y");
    b.Floats("one", {}, {1});
    auto* known = b.graph().add_initializer();
    known->set_name("known");
    known->set_data_type(onnx::TensorProto::BOOL);
    known->add_int32_data(1);
    BranchInABranch(&b, kind);
    b.Node("Add", {"t_of_branch", "t"}, {"y"});
    for (const bool c : {false, true}) {
      for (const bool run : {false, true}) {
        const auto y = RunModel(b, {Floats({}, {5}), Bool(c), Bool(run)});
        ASSERT_TRUE(y.ok()) << y.status();
        const bool negates = kind[0] == 'r' && !run;
        const float branch = (c ? 5 : 6) * (negates ? -1 : 1);
        EXPECT_THAT((*y)[0].values<float>(), ElementsAre(10 + branch));
        EXPECT_EQ((*y)[0].TypeString(), "f32[1]");
      }
    }
  }
}

TEST(OpenRank, NoGraphMakesItOneRank) {
  ModelBuilder b;
  b.Input("x", {}).Input("c", {}, onnx::TensorProto::BOOL);
  b.Input("run", {}, onnx::TensorProto::BOOL).Output("y");
  b.Floats("one", {}, {1});
  BranchInABranch(&b, "run");
  b.Node("Abs", {"t_of_branch"}, {"y"});
  EXPECT_THAT(Error(b), AllOf(HasSubstr("node 'inside' (If)"),
                              HasSubstr("'y', which is f32[] or f32[1]")));
}

// The iterations of a loop give what they carry one rank.
TEST(OpenRank, NotOutOfALoop) {
  ModelBuilder b;
  b.Input("x", {}).Input("c", {}, onnx::TensorProto::BOOL);
  b.Input("times", {}, onnx::TensorProto::INT64).Output("y");
  b.Floats("one", {}, {1});
  onnx::NodeProto* loop = b.Node("Loop", {"times", "", "x"}, {"last"}, "loop");
  onnx::GraphProto* body = AddGraph(loop, "body");
  for (const char* name : {"i", "go_on", "carried"}) {
    body->add_input()->set_name(name);
  }
  onnx::NodeProto* inner = AddNode(body, "If", {"c"}, "t");
  AddNode(AddGraph(inner, "then_branch"), "Identity", {"carried"}, "same");
  inner->mutable_attribute(0)->mutable_g()->add_output()->set_name("same");
  b.Ints("front", {0});
  AddNode(AddGraph(inner, "else_branch"), "Unsqueeze", {"one", "front"},
          "more");
  inner->mutable_attribute(1)->mutable_g()->add_output()->set_name("more");
  AddNode(body, "Identity", {"go_on"}, "still");
  body->add_output()->set_name("still");
  body->add_output()->set_name("t");
  b.Node("Add", {"last", "one"}, {"y"});
  EXPECT_THAT(Error(b), AllOf(HasSubstr("'t', which is f32[] or f32[1]"),
                              HasSubstr("--input-shape")));
}

}  // namespace
}  // namespace ingot::onnx_frontend
