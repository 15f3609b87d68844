// Functions of the model: how calls of them become their nodes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/frontends/onnx/testing/model_builder.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::onnx_frontend {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A model with functions of the domain "mine", of f32[3].
class FunctionsTest : public testing::Test {
 protected:
  FunctionsTest() { b_.Domain("mine").Input("x", {"3"}).Output("y"); }

  onnx::FunctionProto* Add(const std::string& name,
                           const std::vector<std::string>& inputs) {
    auto* f = b_.model().add_functions();
    f->set_name(name);
    f->set_domain("mine");
    for (const std::string& input : inputs) f->add_input(input);
    f->add_output("out");
    return f;
  }
  onnx::NodeProto* Call(const std::string& name,
                        const std::vector<std::string>& inputs,
                        const std::string& output = "y") {
    auto* node = b_.Node(name, inputs, {output});
    node->set_domain("mine");
    return node;
  }
  // The model as relay text, or the error.
  std::string Text() {
    absl::StatusOr<relay::Module> module = ImportOnnx(b_.Build());
    return module.ok() ? relay::Print(*module) : module.status().ToString();
  }

  ModelBuilder b_;
};

onnx::NodeProto* AddNode(onnx::NodeProto* node, const std::string& op,
                         const std::vector<std::string>& inputs,
                         const std::string& output) {
  node->set_op_type(op);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

void SetReference(onnx::NodeProto* node, const std::string& name,
                  const std::string& of) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_ref_attr_name(of);
  a->set_type(onnx::AttributeProto::FLOAT);
}

// A field that the schema does not know: its number and its bytes, at most 127.
std::string Field(int number, const std::string& content) {
  return absl::StrCat(std::string(1, static_cast<char>(number << 3 | 2)),
                      std::string(1, static_cast<char>(content.size())),
                      content);
}

// One side of an If.
onnx::GraphProto* Branch(onnx::NodeProto* node, const std::string& name) {
  auto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::GRAPH);
  a->mutable_g()->add_output()->set_name("r");
  return a->mutable_g();
}

TEST_F(FunctionsTest, AreInlined) {
  AddNode(Add("Twice", {"a"})->add_node(), "Add", {"a", "a"}, "out");
  Call("Twice", {"x"});
  EXPECT_THAT(Text(), HasSubstr("add(%x, %x)"));
}

TEST_F(FunctionsTest, AttributesReferToThoseOfTheCall) {
  auto* f = Add("Leak", {"a"});
  SetReference(AddNode(f->add_node(), "LeakyRelu", {"a"}, "out"), "alpha",
               "slope");
  SetFloat(Call("Leak", {"x"}), "slope", 0.5);
  EXPECT_THAT(Text(), HasSubstr("{alpha=0.5}"));
}

TEST_F(FunctionsTest, AttributesHaveDefaults) {
  auto* f = Add("Leak", {"a"});
  SetReference(AddNode(f->add_node(), "LeakyRelu", {"a"}, "out"), "alpha",
               "slope");
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.25);
  *f->mutable_unknown_fields() = Field(11, slope.SerializeAsString());
  Call("Leak", {"x"}, "t");
  SetFloat(Call("Leak", {"t"}), "slope", 0.5);
  EXPECT_THAT(Text(),
              AllOf(HasSubstr("{alpha=0.25}"), HasSubstr("{alpha=0.5}")));
  *f->mutable_unknown_fields() = Field(11, "\x0a\x7f");
  EXPECT_THAT(Text(), HasSubstr("'Leak' has a damaged attribute"));
}

TEST_F(FunctionsTest, AttributesInBranchesReferToThoseOfTheCall) {
  auto* f = Add("MayLeak", {"a", "c"});
  auto* branch = AddNode(f->add_node(), "If", {"c"}, "out");
  SetReference(AddNode(Branch(branch, "then_branch")->add_node(), "LeakyRelu",
                       {"a"}, "r"),
               "alpha", "slope");
  AddNode(Branch(branch, "else_branch")->add_node(), "Neg", {"a"}, "r");
  b_.Input("c", {}, onnx::TensorProto::BOOL);
  SetFloat(Call("MayLeak", {"x", "c"}), "slope", 0.5);
  EXPECT_THAT(Text(), HasSubstr("{alpha=0.5}"));
}

TEST_F(FunctionsTest, InputsMayBeLeftOut) {
  b_.Input("high", {});
  AddNode(Add("Bound", {"a", "low", "high"})->add_node(), "Clip",
          {"a", "low", "high"}, "out");
  Call("Bound", {"x", "", "high"}, "t");
  Call("Bound", {"t"});
  EXPECT_THAT(Text(), AllOf(HasSubstr("minimum(%Clip_1, %high)"),
                            Not(HasSubstr("maximum"))));
  Call("Bound", {"x", "high", "high", "high"}, "z");
  EXPECT_THAT(Text(), HasSubstr("takes at most 3 inputs, not 4"));
}

TEST_F(FunctionsTest, InputsThatBranchesReadMayBeLeftOut) {
  auto* f = Add("Bound", {"a", "c", "low"});
  auto* branch = AddNode(f->add_node(), "If", {"c"}, "out");
  AddNode(Branch(branch, "then_branch")->add_node(), "Clip", {"a", "low"}, "r");
  AddNode(Branch(branch, "else_branch")->add_node(), "Neg", {"a"}, "r");
  b_.Input("c", {}, onnx::TensorProto::BOOL);
  Call("Bound", {"x", "c"});
  EXPECT_THAT(Text(), AllOf(HasSubstr("neg"), Not(HasSubstr("maximum"))));
}

TEST_F(FunctionsTest, OfOneNameDifferInTheirOverloads) {
  AddNode(Add("F", {"a"})->add_node(), "Exp", {"a"}, "out");
  auto* other = Add("F", {"a"});
  AddNode(other->add_node(), "Neg", {"a"}, "out");
  *other->mutable_unknown_fields() = Field(13, "second");
  *Call("F", {"x"})->mutable_unknown_fields() = Field(8, "second");
  EXPECT_THAT(Text(), AllOf(HasSubstr("neg(%x)"), Not(HasSubstr("exp"))));
}

TEST_F(FunctionsTest, ThatCallThemselves) {
  auto* f = Add("Loop", {"a"});
  for (const char* output : {"b", "out"}) {
    AddNode(f->add_node(), "Loop", {"a"}, output)->set_domain("mine");
  }
  Call("Loop", {"x"});
  EXPECT_THAT(Text(), HasSubstr("too deep"));
}

}  // namespace
}  // namespace ingot::onnx_frontend
