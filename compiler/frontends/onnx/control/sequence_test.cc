// Sequences and optional values, of which importing knows all or nothing.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/frontends/onnx/testing/run_operator.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor_sequence.h"

namespace ingot::onnx_frontend {
namespace {

using testing::HasSubstr;

constexpr int kFloat = onnx::TensorProto::FLOAT;
constexpr int kInt64 = onnx::TensorProto::INT64;

TensorSequence ListOf(std::vector<Tensor> tensors) {
  return {DataType::Float(32), false, std::move(tensors)};
}

void SetTensorType(onnx::TypeProto* type, const std::vector<int64_t>& dims) {
  auto* tensor = type->mutable_tensor_type();
  tensor->set_elem_type(kFloat);
  tensor->mutable_shape();
  for (int64_t d : dims) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (d >= 0) dim->set_dim_value(d);
  }
}

// An input that is a sequence of tensors of such a shape, -1 for any dimension.
void SequenceInput(ModelBuilder* b, const std::string& name,
                   const std::vector<int64_t>& dims) {
  auto* input = b->graph().add_input();
  input->set_name(name);
  SetTensorType(
      input->mutable_type()->mutable_sequence_type()->mutable_elem_type(),
      dims);
}

absl::StatusOr<std::vector<TensorOrSequence>> RunModel(
    const ModelBuilder& b, const std::vector<TensorOrSequence>& inputs) {
  INGOT_ASSIGN_OR_RETURN(relay::Module module, ImportOnnx(b.Build()));
  INGOT_RETURN_IF_ERROR(relay::Verify(module));
  return relay::EvaluateFunctionOnSequences(module, *module.main(), inputs);
}

// "f32[2] 1 2" of a tensor, "{f32[1] 3; f32[0]}" of a sequence, or the error.
std::string Text(const TensorOrSequence& value) {
  if (const auto* sequence = std::get_if<TensorSequence>(&value)) {
    if (sequence->missing) return "none";
    std::string text;
    for (const Tensor& t : sequence->tensors) {
      text += (text.empty() ? "" : "; ") + Text(t);
    }
    return "{" + text + "}";
  }
  const Tensor& t = std::get<Tensor>(value);
  std::string text = t.TypeString();
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    text += " ";
    if (t.dtype() == DataType::Float(32)) {
      text += std::to_string(static_cast<int>(t.values<float>()[i]));
    } else if (t.dtype() == DataType::Int(64)) {
      text += std::to_string(t.values<int64_t>()[i]);
    } else {
      text += t.values<bool>()[i] ? "true" : "false";
    }
  }
  return text;
}

std::string FirstOutput(const ModelBuilder& b,
                        const std::vector<TensorOrSequence>& inputs) {
  const absl::StatusOr<std::vector<TensorOrSequence>> outputs =
      RunModel(b, inputs);
  return outputs.ok() ? Text((*outputs)[0])
                      : std::string(outputs.status().message());
}

// Counts the operators on sequences in the module; 0 for a model that is
// refused.
int CountSteps(const ModelBuilder& b) {
  absl::StatusOr<relay::Module> module = ImportOnnx(b.Build());
  int steps = 0;
  if (!module.ok()) return steps;
  for (const auto& function : module->functions()) {
    for (const auto& node : function->nodes()) steps += node->TakesSequences();
  }
  return steps;
}

// The sequence {[1], [2, 3], [4]}, given at run time or made in the model, and
// the position p, likewise.
struct Given {
  bool sequence_at_run_time;
  bool position_at_run_time;
};

class SequenceTest : public testing::TestWithParam<Given> {
 protected:
  // The result of a node that takes the sequence as "s", [7, 8] as "x" and the
  // position as "p".
  std::string Result(
      const std::string& op, const std::vector<std::string>& operands,
      int64_t position,
      const std::function<void(onnx::NodeProto*)>& attributes = nullptr) {
    ModelBuilder b;
    std::vector<TensorOrSequence> inputs;
    const std::vector<Tensor> tensors = {Floats({1}, {1}), Floats({2}, {2, 3}),
                                         Floats({1}, {4})};
    if (GetParam().sequence_at_run_time) {
      SequenceInput(&b, "s", {-1});
      inputs.push_back(ListOf(tensors));
    } else {
      b.Input("a", {"1"}).Input("b", {"2"}).Input("c", {"1"});
      inputs.assign(tensors.begin(), tensors.end());
      b.Node("SequenceConstruct", {"a", "b", "c"}, {"s"});
    }
    b.Input("x", {"2"});
    inputs.push_back(Floats({2}, {7, 8}));
    const bool has_position =
        std::find(operands.begin(), operands.end(), "p") != operands.end();
    if (has_position && GetParam().position_at_run_time) {
      b.Input("p", {}, kInt64);
      inputs.push_back(Longs({}, {position}));
    } else {
      b.Ints("p", {position});
    }
    b.Output("y");
    onnx::NodeProto* node = b.Node(op, operands, {"y"});
    if (attributes != nullptr) attributes(node);
    // Steps whose operands are known while importing are not steps of a run.
    if (!GetParam().sequence_at_run_time &&
        !(has_position && GetParam().position_at_run_time)) {
      EXPECT_LE(CountSteps(b), 1) << op;
    }
    return FirstOutput(b, inputs);
  }
};

INSTANTIATE_TEST_SUITE_P(Given, SequenceTest,
                         testing::Values(Given{false, false},
                                         Given{false, true}, Given{true, false},
                                         Given{true, true}));

TEST_P(SequenceTest, Operators) {
  EXPECT_EQ(Result("SequenceInsert", {"s", "x"}, 0),
            "{f32[1] 1; f32[2] 2 3; f32[1] 4; f32[2] 7 8}");
  EXPECT_EQ(Result("SequenceInsert", {"s", "x", "p"}, -2),
            "{f32[1] 1; f32[2] 7 8; f32[2] 2 3; f32[1] 4}");
  EXPECT_EQ(Result("SequenceErase", {"s"}, 0), "{f32[1] 1; f32[2] 2 3}");
  EXPECT_EQ(Result("SequenceErase", {"s", "p"}, 0), "{f32[2] 2 3; f32[1] 4}");
  EXPECT_EQ(Result("SequenceAt", {"s", "p"}, 1), "f32[2] 2 3");
  EXPECT_EQ(Result("SequenceAt", {"s", "p"}, -1), "f32[1] 4");
  EXPECT_EQ(Result("SequenceLength", {"s"}, 0), "i64[] 3");
  EXPECT_EQ(Result("ConcatFromSequence", {"s"}, 0,
                   [](onnx::NodeProto* n) { SetInt(n, "axis", 0); }),
            "f32[4] 1 2 3 4");
  EXPECT_EQ(Result("Identity", {"s"}, 0), "{f32[1] 1; f32[2] 2 3; f32[1] 4}");
  EXPECT_EQ(Result("OptionalHasElement", {"s"}, 0), "bool[] true");
  EXPECT_EQ(Result("OptionalGetElement", {"s"}, 0),
            "{f32[1] 1; f32[2] 2 3; f32[1] 4}");
}

TEST_P(SequenceTest, PositionsOutOfRange) {
  EXPECT_THAT(Result("SequenceAt", {"s", "p"}, 3),
              HasSubstr("position 3 in a"));
  EXPECT_THAT(Result("SequenceInsert", {"s", "x", "p"}, -4),
              HasSubstr("position -4 in a"));
  EXPECT_THAT(Result("SequenceErase", {"s", "p"}, 9),
              HasSubstr("position 9 in a"));
}

TEST(SequencesOfARun, OperatorsAtWork) {
  // A tensor taken out of a sequence is a tensor like any other.
  ModelBuilder b;
  SequenceInput(&b, "s", {-1, 2});
  b.Input("p", {}, kInt64).Output("y");
  b.Node("SequenceAt", {"s", "p"}, {"at"});
  b.Node("Add", {"at", "at"}, {"twice"});
  b.Node("SequenceInsert", {"s", "twice"}, {"more"});
  SetInt(b.Node("ConcatFromSequence", {"more"}, {"y"}), "axis", 0);
  EXPECT_EQ(
      FirstOutput(
          b, {ListOf({Floats({1, 2}, {1, 2}), Floats({2, 2}, {3, 4, 5, 6})}),
              Longs({}, {1})}),
      "f32[5, 2] 1 2 3 4 5 6 6 8 10 12");
}

TEST(SequencesOfARun, Concatenates) {
  ModelBuilder b;
  SequenceInput(&b, "s", {2});
  b.Output("y");
  onnx::NodeProto* node = b.Node("ConcatFromSequence", {"s"}, {"y"});
  SetInt(node, "axis", -1);
  SetInt(node, "new_axis", 1);
  EXPECT_EQ(
      FirstOutput(b, {ListOf({Floats({2}, {1, 2}), Floats({2}, {3, 4})})}),
      "f32[2, 2] 1 3 2 4");
}

TEST(SequencesOfARun, Splits) {
  const auto split = [](const std::vector<int64_t>& shape, bool keepdims,
                        std::vector<TensorOrSequence> sizes) {
    ModelBuilder b;
    b.Input("x", {"n", "2"}).Output("y");
    std::vector<std::string> operands = {"x"};
    if (!sizes.empty()) {
      const Tensor& t = std::get<Tensor>(sizes[0]);
      std::vector<std::string> dims;
      for (int64_t d : t.shape()) dims.push_back(std::to_string(d));
      b.Input("sizes", dims, kInt64);
      operands.push_back("sizes");
    }
    onnx::NodeProto* node = b.Node("SplitToSequence", operands, {"y"});
    SetInt(node, "axis", 0);
    SetInt(node, "keepdims", keepdims);
    sizes.insert(sizes.begin(), Floats(shape, {1, 2, 3, 4, 5, 6}));
    return FirstOutput(b, sizes);
  };
  EXPECT_EQ(split({3, 2}, true, {}),
            "{f32[1, 2] 1 2; f32[1, 2] 3 4; f32[1, 2] 5 6}");
  EXPECT_EQ(split({3, 2}, false, {}), "{f32[2] 1 2; f32[2] 3 4; f32[2] 5 6}");
  EXPECT_EQ(split({3, 2}, false, {Longs({}, {2})}),
            "{f32[2, 2] 1 2 3 4; f32[1, 2] 5 6}");
  EXPECT_EQ(split({3, 2}, true, {Longs({2}, {1, 2})}),
            "{f32[1, 2] 1 2; f32[2, 2] 3 4 5 6}");
  EXPECT_THAT(split({3, 2}, true, {Longs({2}, {1, 1})}),
              HasSubstr("the parts do not add up to 3"));
}

// As PyTorch writes repeat_interleave: the parts are one element long, which
// the rank of an expanded tensor depends on.
TEST(SequencesOfARun, PartsOfOneExtent) {
  ModelBuilder b(13);
  b.Input("x", {"n"}, kInt64).Input("i", {}, kInt64).Output("y");
  b.Floats("nine", {1, 1}, {9});
  b.Ints("two", {2});
  b.Node("Shape", {"x"}, {"shape"});
  onnx::AttributeProto* one =
      b.Node("ConstantOfShape", {"shape"}, {"ones"})->add_attribute();
  one->set_name("value");
  one->set_type(onnx::AttributeProto::TENSOR);
  one->mutable_t()->set_data_type(kInt64);
  one->mutable_t()->add_dims(1);
  one->mutable_t()->add_int64_data(1);
  b.Node("SplitToSequence", {"x", "ones"}, {"parts"});
  b.Node("SequenceAt", {"parts", "i"}, {"part"});
  SetInt(b.Node("Concat", {"two", "part"}, {"to"}), "axis", 0);
  b.Node("Expand", {"nine", "to"}, {"y"});
  EXPECT_EQ(FirstOutput(b, {Longs({3}, {4, 1, 2}), Longs({}, {2})}),
            "f32[2, 2] 9 9 9 9");
}

// An optional input, of a tensor or of a sequence of tensors [2].
void OptionalInput(ModelBuilder* b, bool of_sequence) {
  auto* input = b->graph().add_input();
  input->set_name("o");
  auto* type = input->mutable_type()->mutable_optional_type();
  auto* inner = type->mutable_elem_type();
  if (of_sequence) {
    inner = inner->mutable_sequence_type()->mutable_elem_type();
  }
  SetTensorType(inner, {2});
}

TEST(OptionalsOfARun, OfATensor) {
  ModelBuilder b;
  OptionalInput(&b, false);
  b.Output("has").Output("y");
  b.Node("OptionalHasElement", {"o"}, {"has"});
  b.Node("OptionalGetElement", {"o"}, {"t"});
  b.Node("Neg", {"t"}, {"y"});
  const auto outputs = RunModel(b, {ListOf({Floats({2}, {1, 2})})});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(Text((*outputs)[0]), "bool[] true");
  EXPECT_EQ(Text((*outputs)[1]), "f32[2] -1 -2");
  EXPECT_THAT(FirstOutput(b, {TensorSequence{DataType::Float(32), true, {}}}),
              HasSubstr("the optional value is not there"));
}

TEST(OptionalsOfARun, OfASequence) {
  ModelBuilder b;
  OptionalInput(&b, true);
  b.Output("y");
  b.Node("OptionalGetElement", {"o"}, {"s"});
  b.Node("SequenceLength", {"s"}, {"y"});
  EXPECT_EQ(FirstOutput(b, {ListOf({Floats({2}, {1, 2})})}), "i64[] 1");
  EXPECT_THAT(FirstOutput(b, {TensorSequence{DataType::Float(32), true, {}}}),
              HasSubstr("the optional value is not there"));
}

TEST(OptionalsOfARun, BranchesMakeThem) {
  ModelBuilder b;
  b.Input("c", {}, onnx::TensorProto::BOOL).Input("x", {"2"});
  b.Output("y").Output("has");
  onnx::NodeProto* branch = b.Node("If", {"c"}, {"y"});
  onnx::GraphProto* yes = AddGraph(branch, "then_branch");
  AddNode(yes, "Optional", {"x"}, "some");
  yes->add_output()->set_name("some");
  onnx::GraphProto* no = AddGraph(branch, "else_branch");
  onnx::AttributeProto* type =
      AddNode(no, "Optional", {}, "none")->add_attribute();
  type->set_name("type");
  type->set_type(onnx::AttributeProto::TYPE_PROTO);
  SetTensorType(type->mutable_tp(), {2});
  no->add_output()->set_name("none");
  b.Node("OptionalHasElement", {"y"}, {"has"});
  for (bool c : {true, false}) {
    Tensor condition = *Tensor::Empty(DataType::Bool(), {});
    *condition.mutable_data<bool>() = c;
    const auto outputs = RunModel(b, {condition, Floats({2}, {1, 2})});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(Text((*outputs)[0]), c ? "{f32[2] 1 2}" : "none");
    EXPECT_EQ(Text((*outputs)[1]), c ? "bool[] true" : "bool[] false");
  }
}

// y: what the iterations so far made, each the sum of that and the captured x.
TEST(SequencesOfARun, LoopsReadWhatTheyInsert) {
  ModelBuilder b;
  b.Input("iterations", {}, kInt64).Input("x", {"2"}).Output("y");
  b.Ints("back", {-1});
  b.Node("SequenceConstruct", {"x"}, {"start"});
  b.Node("SequenceConstruct", {"x", "x"}, {"others"});
  onnx::NodeProto* loop =
      b.Node("Loop", {"iterations", "", "start", "others"}, {"y", "same"});
  onnx::GraphProto* body = AddGraph(loop, "body");
  for (const char* name : {"iteration", "go", "so_far", "two"}) {
    body->add_input()->set_name(name);
  }
  AddNode(body, "SequenceAt", {"so_far", "back"}, "last");
  AddNode(body, "Add", {"last", "x"}, "sum");
  AddNode(body, "SequenceInsert", {"so_far", "sum"}, "now");
  for (const char* name : {"go", "now", "two"}) {
    body->add_output()->set_name(name);
  }
  EXPECT_EQ(FirstOutput(b, {Longs({}, {3}), Floats({2}, {1, 2})}),
            "{f32[2] 1 2; f32[2] 2 4; f32[2] 3 6; f32[2] 4 8}");
  EXPECT_EQ(FirstOutput(b, {Longs({}, {0}), Floats({2}, {1, 2})}),
            "{f32[2] 1 2}");
  // With a number of iterations that importing knows there is no loop, nor a
  // sequence but the output.
  b.graph().mutable_input()->DeleteSubrange(0, 1);
  b.Ints("iterations", {3});
  EXPECT_EQ(CountSteps(b), 1);
  EXPECT_EQ(FirstOutput(b, {Floats({2}, {1, 2})}),
            "{f32[2] 1 2; f32[2] 2 4; f32[2] 3 6; f32[2] 4 8}");
}

TEST(SequenceMap, OfWhatImportingKnows) {
  ModelBuilder b;
  b.Input("x", {"2"}).Input("z", {"1"}).Output("y");
  b.Node("SequenceConstruct", {"x", "z"}, {"s"});
  onnx::NodeProto* map = b.Node("SequenceMap", {"s", "z"}, {"y"}, "map");
  onnx::GraphProto* body = AddGraph(map, "body");
  body->add_input()->set_name("a");
  body->add_input()->set_name("map/in0");  // a name that it might take itself
  AddNode(body, "Add", {"a", "map/in0"}, "sum");
  AddNode(body, "Add", {"sum", "x"}, "out");  // of the graph around
  body->add_output()->set_name("out");
  SetTensorType(body->mutable_output(0)->mutable_type(), {2});
  EXPECT_EQ(CountSteps(b), 1);
  EXPECT_EQ(FirstOutput(b, {Floats({2}, {1, 2}), Floats({1}, {10})}),
            "{f32[2] 12 14; f32[2] 21 22}");
}

TEST(SequencesOfARun, SayWhatIsOff) {
  ModelBuilder rank;
  auto* input = rank.graph().add_input();
  input->set_name("s");
  auto* type = input->mutable_type()->mutable_sequence_type();
  type->mutable_elem_type()->mutable_tensor_type()->set_elem_type(kFloat);
  rank.Ints("p", {0});
  rank.Output("y").Node("SequenceAt", {"s", "p"}, {"y"});
  EXPECT_THAT(FirstOutput(rank, {ListOf({})}),
              HasSubstr("the number of dimensions of what is in 's' is not "
                        "known"));

  ModelBuilder tensor;
  SequenceInput(&tensor, "s", {2});
  tensor.Output("y").Node("Relu", {"s"}, {"y"});
  EXPECT_THAT(FirstOutput(tensor, {ListOf({})}),
              HasSubstr("'s' is a sequence or optional where a tensor"));

  ModelBuilder sequence;
  sequence.Input("x", {"2"}).Output("y").Node("SequenceLength", {"x"}, {"y"});
  EXPECT_THAT(FirstOutput(sequence, {Floats({2}, {1, 2})}),
              HasSubstr("'x' is a tensor where a sequence"));

  ModelBuilder nested;
  input = nested.graph().add_input();
  input->set_name("s");
  SetTensorType(input->mutable_type()
                    ->mutable_sequence_type()
                    ->mutable_elem_type()
                    ->mutable_sequence_type()
                    ->mutable_elem_type(),
                {2});
  nested.Output("y").Node("SequenceLength", {"s"}, {"y"});
  EXPECT_THAT(FirstOutput(nested, {ListOf({})}),
              HasSubstr("input 's': it is neither a tensor, nor a sequence"));
}

}  // namespace
}  // namespace ingot::onnx_frontend
