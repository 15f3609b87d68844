#include "compiler/relay/ir.h"

#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TensorType F32(std::vector<int64_t> shape) {
  return {DataType::Float(32), MakeShape(shape)};
}

std::vector<std::string> Names(const Function& f) {
  std::vector<std::string> names;
  for (const auto& node : f.nodes()) names.push_back(node->name);
  return names;
}

TEST(FunctionTest, NamesStayUnique) {
  Function f("main");
  Node* x = f.AddInput("x", F32({2}));
  EXPECT_EQ(f.AddInput("x", F32({2}))->name, "x_1");
  EXPECT_EQ(f.UniqueName("x"), "x_2");
  EXPECT_EQ(f.UniqueName("y"), "y");
  EXPECT_EQ((*f.AddOp("relu", "y", {Value{x}}))->name, "y");
  EXPECT_EQ((*f.AddOp("relu", "y", {Value{x}}))->name, "y_1");
  EXPECT_EQ((*f.AddOp("relu", "", {Value{x}}))->name, "relu");
}

TEST(FunctionTest, SortPutsNewNodesBeforeTheirUsers) {
  Function f("main");
  Node* x = f.AddInput("x", F32({2}));
  Node* a = *f.AddOp("relu", "a", {Value{x}});
  Node* b = *f.AddOp("relu", "b", {Value{a}});
  Node* c = *f.AddOp("relu", "c", {Value{b}});
  Node* n = *f.AddOp("neg", "n", {Value{a}});
  b->inputs[0] = Value{n};
  ASSERT_TRUE(f.Sort().ok());
  EXPECT_THAT(Names(f), ElementsAre("x", "a", "n", "b", "c"));
  n->inputs[0] = Value{c};
  EXPECT_THAT(std::string(f.Sort().message()), HasSubstr("depends on itself"));
}

TEST(FunctionTest, RemoveDeadKeepsInputs) {
  Function f("main");
  Node* x = f.AddInput("x", F32({2}));
  f.AddInput("unused", F32({2}));
  Node* a = *f.AddOp("relu", "a", {Value{x}});
  *f.AddOp("relu", "b", {Value{a}});
  f.outputs = {Value{a}};
  EXPECT_EQ(f.RemoveDead(), 1);
  EXPECT_THAT(Names(f), ElementsAre("x", "unused", "a"));
  EXPECT_EQ(f.Users().size(), 1u);
}

TEST(FunctionTest, AddOpSaysWhatIsWrong) {
  Function f("main");
  Node* x = f.AddInput("x", F32({2}));
  Node* y = f.AddInput("y", F32({3}));
  EXPECT_EQ(f.AddOp("nothing", "a", {Value{x}}).status().code(),
            absl::StatusCode::kUnimplemented);
  const auto add = f.AddOp("add", "sum", {Value{x}, Value{y}});
  EXPECT_EQ(add.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(add.status().message()), HasSubstr("node sum: add:"));
  EXPECT_FALSE(f.AddOp("clip", "a", {Value{x}}, {{"min", int64_t{0}}}).ok());
  EXPECT_FALSE(f.AddOp("cast", "a", {Value{x}}).ok());
  EXPECT_FALSE(f.AddOp("relu", "a", {Value{x, 1}}).ok());
  EXPECT_FALSE(f.AddOp("relu", "a", {Value{}}).ok());
}

TEST(TypeTest, Texts) {
  Module module;
  const Dim n = module.Symbol("n");
  EXPECT_EQ(ToString({DataType::Float(32), {}}), "f32[]");
  EXPECT_EQ(ToString({DataType::Int(64), {n, (n + 1) * 2, n - 1}}),
            "i64[n, (n + 1) * 2, n - 1]");
  EXPECT_EQ(module.Symbol("n"), n);
  EXPECT_TRUE(SameShape({n + 1}, {tir::MakeInt(1) + n}));
  EXPECT_FALSE(SameShape({n}, {n + 1}));
  EXPECT_FALSE(ConstShape({n}).has_value());
}

// ------------------------------------------------------------------- verifier

std::unique_ptr<Module> Good() {
  auto module = ReadModule(R"(module {
    func @main(%x: f32[4]) -> (%z) {
      %y = relu(%x)
      %z = @k(%y) : f32[4]
    }
    func @k(%p: f32[4]) -> (%q) { %q = neg(%p) }
  })");
  EXPECT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Verify(**module).ok()) << Verify(**module);
  return *std::move(module);
}

std::string Complaint(const Module& module) {
  return std::string(Verify(module).message());
}

TEST(VerifierTest, FindsWrongTypes) {
  auto module = Good();
  module->main()->nodes()[1]->outputs[0] = F32({5});
  EXPECT_THAT(Complaint(*module), HasSubstr("function @main: node %y: its type"
                                            " is (f32[5]), inferred (f32[4])"));
}

TEST(VerifierTest, FindsWrongOrder) {
  auto module = Good();
  Node* y = module->main()->nodes()[1].get();
  y->inputs[0] = Value{module->main()->nodes()[2].get()};
  EXPECT_THAT(Complaint(*module), HasSubstr("does not stand before it"));
}

TEST(VerifierTest, FindsForeignNodes) {
  auto module = Good();
  module->main()->nodes()[1]->inputs[0] =
      Value{module->Find("k")->nodes()[0].get()};
  EXPECT_THAT(Complaint(*module), HasSubstr("node %y: reads a node"));
}

TEST(VerifierTest, FindsRepeatedNames) {
  auto module = Good();
  module->main()->nodes()[2]->name = "y";
  EXPECT_THAT(Complaint(*module), HasSubstr("the same name"));
}

TEST(VerifierTest, FindsWrongCalls) {
  auto module = Good();
  Node* call = module->main()->nodes()[2].get();
  call->callee = "gone";
  EXPECT_THAT(Complaint(*module), HasSubstr("calls @gone, which is not there"));
  call->callee = "main";
  EXPECT_THAT(Complaint(*module), HasSubstr("function @main calls itself"));
  call->callee = "k";
  module->Find("k")->inputs[0]->outputs[0] = F32({5});
  module->Find("k")->nodes()[1]->outputs[0] = F32({5});
  EXPECT_THAT(Complaint(*module), HasSubstr("operand 0 is f32[4], @k takes"));
}

TEST(VerifierTest, FindsWrongOutputs) {
  auto module = Good();
  module->main()->outputs[0].index = 1;
  EXPECT_THAT(Complaint(*module), HasSubstr("an output is not a result"));
  module = Good();
  module->main()->inputs.clear();
  EXPECT_THAT(Complaint(*module), HasSubstr("its list of inputs"));
}

TEST(VerifierTest, SymbolsMayBeEqual) {
  Module module;
  const Dim n = module.Symbol("n"), m = module.Symbol("m");
  const DataType t = DataType::Float(32);
  EXPECT_TRUE(Agrees({t, {n}}, {t, {m}}));
  EXPECT_TRUE(Agrees({t, {n}}, {t, MakeShape({3})}));
  EXPECT_FALSE(Agrees({t, {n}}, {t, {n + 1}}));
  EXPECT_FALSE(Agrees({t, {n}}, {t, {n, n}}));
  EXPECT_FALSE(Agrees({t, {n}}, {DataType::Float(16), {n}}));
}

}  // namespace
}  // namespace ingot::relay
