// The native short cuts of operators (OpDef::compute_known) against their
// definitions in te, which are the meaning.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

// Calls on %a and %b, f32[2, 3] both; %c, f32[3]; %i and %j, i64[2, 3]; %x,
// f32[1, 5, 2, 2], whose channels fill no whole block; %m, %n and %o, factors
// of products with more columns than are multiplied at once.
constexpr const char* kCalls[] = {
    "add(%a, %b)",
    "add(%a, %c)",
    "add(%i, %j)",
    "sub(%a, %b)",
    "sub(%i, %j)",
    "mul(%a, %c)",
    "mul(%i, %j)",
    "div(%a, %b)",
    "neg(%a)",
    "sqrt(%b)",
    "reciprocal(%b)",
    "cast(%a) {dtype=f32}",
    "expand(%c) {shape=[4, 3]}",
    "transpose(%a) {axes=[1, 0]}",
    "slice(%a) {starts=[2], ends=[0], axes=[1], steps=[-1]}",
    "slice(%a) {starts=[1], ends=[2], axes=[0]}",
    "concat(%a, %b) {axis=1}",
    "concat(%i, %j) {axis=0}",
    "pad(%a) {pads=[1, 0, 0, 2]}",
    "layout_transform(%x) {src=\"NCHW\", dst=\"NCHW4c\"}",
    "matmul(%b, %n)",
    "matmul(%m, %n)",
    "matmul(%n, %m)",
    "matmul(%none, %n)",
    "matmul(%thin, %wide)",
    "dense(%b, %o)",
    "dense(%m, %o)",
    "dense(%o, %o)",
};

constexpr char kOperands[] =
    "    %a = const f32[2, 3] {-1.5, 0, 3e38, 7, 1e-40, -2}\n"
    "    %b = const f32[2, 3] {0.1, 3, 3e38, 2, 1e-3, 0}\n"
    "    %c = const f32[3] {-0.0, 5, 0.3}\n"
    "    %i = const i64[2, 3] {9223372036854775807, -4, 3, 7, 0, -1}\n"
    "    %j = const i64[2, 3] {2, 3, -5, 9, 4611686018427387904, 1}\n"
    "    %x = const f32[1, 5, 2, 2] random(3)\n"
    "    %m = const f32[2, 1, 130, 3] random(4)\n"
    "    %n = const f32[4, 3, 130] random(5)\n"
    "    %o = const f32[65, 3] random(6)\n"
    "    %none = const f32[0, 3] {}\n"
    "    %wide = const f32[0, 66] {}\n"
    "    %thin = const f32[130, 0] {}\n";

std::string Bytes(const Tensor& tensor) {
  return absl::StrCat(
      tensor.TypeString(), " ",
      absl::string_view(static_cast<const char*>(tensor.raw_data()),
                        tensor.bytes()));
}

TEST(ShortCutsTest, GiveTheBitsOfTheDefinitions) {
  std::set<std::string> covered;
  for (const char* call : kCalls) {
    SCOPED_TRACE(call);
    const auto module =
        ReadModule(absl::StrCat("module {\n  func @main() -> (%y) {\n",
                                kOperands, "    %y = ", call, "\n  }\n}\n"));
    ASSERT_TRUE(module.ok()) << module.status();
    const Node& node = *(*module)->main()->outputs[0].node;
    ASSERT_NE(node.op->compute_known, nullptr);
    std::vector<Tensor> operands;
    for (const Value& input : node.inputs) {
      operands.push_back(*input.node->constant);
    }
    const auto shape = ConstShape(node.outputs[0].shape);
    const auto cut = node.op->compute_known(KnownCall{node, operands, *shape});
    ASSERT_TRUE(cut.ok()) << cut.status();
    ASSERT_TRUE(cut->has_value()) << "the short cut does not cover the call";
    OpDef definition = *node.op;
    definition.compute_known = nullptr;
    Node defined = node;
    defined.op = &definition;
    const auto expected = EvaluateNode(defined, operands);
    ASSERT_TRUE(expected.ok()) << expected.status();
    EXPECT_EQ(Bytes(**cut), Bytes((*expected)[0]));
    covered.insert(node.op->name);
  }
  for (const OpDef* op : StandardOps().All()) {
    if (op->compute_known == nullptr) continue;
    EXPECT_EQ(covered.count(op->name), 1u)
        << op->name << " has a short cut that no call here takes";
  }
}

}  // namespace
}  // namespace ingot::relay
