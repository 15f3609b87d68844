// Symbolic dimensions that are 0 in a run: random calls of each operator, as
// targets run them, against the interpreter, which knows all shapes of a call
// when it runs it. INGOT_EMPTY_MODELS asks for more models a target.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/testing/run_model.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/printer.h"
#include "compiler/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "tests/fuzz/random_model.h"
#include "tools/ingot/compare.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

struct Target {
  const char* name;
  int opt_level;
};

int Models() {
  const char* value = std::getenv("INGOT_EMPTY_MODELS");
  return value == nullptr ? 60 : std::atoi(value);
}

// The inputs with 0 for each symbolic dimension.
std::vector<Tensor> EmptyInputs(const relay::Function& main,
                                const std::vector<Tensor>& inputs) {
  std::vector<Tensor> result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<int64_t> shape;
    bool symbolic = false;
    for (const relay::Dim& dim : main.inputs[i]->outputs[0].shape) {
      int64_t value = 0;
      symbolic = !tir::AsConstInt(dim, &value) || symbolic;
      shape.push_back(value);
    }
    result.push_back(symbolic ? *Tensor::Empty(inputs[i].dtype(), shape)
                              : inputs[i]);
  }
  return result;
}

absl::StatusOr<std::vector<Tensor>> CompileAndRun(
    relay::Module* module, const Target& target,
    const std::vector<Tensor>& inputs) {
  CompileOptions options;
  options.opt_level = target.opt_level;
  auto executor = testing_support::CompileAndOpen(module, target.name, options);
  if (!executor.ok()) return executor.status();
  return (*executor)->Run(inputs);
}

absl::Status CompareAll(const std::vector<Tensor>& got,
                        const std::vector<Tensor>& expected) {
  if (got.size() != expected.size()) {
    return absl::DataLossError("another number of outputs");
  }
  for (size_t k = 0; k < got.size(); ++k) {
    const Tolerance tolerance = expected[k].dtype().is_float()
                                    ? Tolerance{0, 1e-5, 2e-3}
                                    : Tolerance{0, 0, std::nullopt};
    auto comparison = Compare(got[k], expected[k], tolerance);
    if (!comparison.ok()) return comparison.status();
    if (!comparison->ok()) {
      return absl::DataLossError(
          absl::StrCat("output ", k, ": ", comparison->problem));
    }
  }
  return absl::OkStatus();
}

// The operators of the model that have an operand with a symbolic dimension.
std::set<std::string> SymbolicCalls(const relay::Module& module) {
  std::set<std::string> ops;
  for (const auto& node : module.main()->nodes()) {
    if (node->kind != relay::NodeKind::kOp) continue;
    for (const relay::Value& v : node->inputs) {
      if (v.node != nullptr && !relay::ConstShape(v.type().shape)) {
        ops.insert(node->op->name);
      }
    }
  }
  return ops;
}

class EmptyBatchTest : public ::testing::TestWithParam<Target> {};

TEST_P(EmptyBatchTest, IsWhatTheInterpreterSays) {
  std::map<std::string, int> refused;
  std::set<std::string> ran;
  for (int seed = 0; seed < Models(); ++seed) {
    const fuzz::RandomModel model =
        fuzz::MakeRandomModel(static_cast<uint64_t>(seed), {3, true});
    const std::set<std::string> ops = SymbolicCalls(*model.module);
    const std::string text = relay::Print(*model.module);
    const std::vector<Tensor> inputs =
        EmptyInputs(*model.module->main(), model.inputs);
    const auto expected =
        relay::EvaluateFunction(*model.module, *model.module->main(), inputs);
    const auto got = CompileAndRun(model.module.get(), GetParam(), inputs);
    if (!expected.ok() || !got.ok()) {
      // An operator without a result for an empty operand says so.
      EXPECT_TRUE(got.ok() || absl::IsInvalidArgument(got.status()))
          << got.status() << "\nseed " << seed << "\n"
          << text;
      EXPECT_EQ(expected.ok(), got.ok())
          << (expected.ok() ? got.status() : expected.status()) << "\nseed "
          << seed << "\n"
          << text;
      continue;
    }
    const absl::Status same = CompareAll(*got, *expected);
    EXPECT_TRUE(same.ok()) << same << "\nseed " << seed << "\n" << text;
    ran.insert(ops.begin(), ops.end());
  }
  std::string never;
  for (const std::string& op : fuzz::CoveredOperators()) {
    if (ran.count(op) == 0) absl::StrAppend(&never, " ", op);
  }
  std::printf("%zu operators met an empty dimension; not:%s\n", ran.size(),
              never.c_str());
  EXPECT_GT(ran.size(), 30u);
}

INSTANTIATE_TEST_SUITE_P(Targets, EmptyBatchTest,
                         ::testing::Values(Target{"llvmjit", 0},
                                           Target{"llvm", 2}, Target{"c", 1}),
                         [](const auto& info) {
                           return absl::StrCat(info.param.name,
                                               info.param.opt_level);
                         });

// Runs `before` and `body` of a main that takes `inputs` on all targets; the
// value of the only output, or the error, which must be the same.
absl::StatusOr<Tensor> RunEverywhere(const std::string& signature,
                                     const std::string& body,
                                     const std::vector<Tensor>& inputs,
                                     const std::string& before = "") {
  absl::StatusOr<Tensor> result = absl::UnknownError("not run");
  for (const Target& target :
       {Target{"llvmjit", 0}, Target{"llvm", 2}, Target{"c", 1}}) {
    auto module = relay::ReadModule(
        absl::StrCat("module { func @main(", signature, ") -> (%y: \"y\") { ",
                     before, " %y = ", body, " } }"));
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return module.status();
    auto outputs = CompileAndRun(module->get(), target, inputs);
    if (outputs.ok()) {
      result = (*outputs)[0];
    } else {
      result = outputs.status();
    }
  }
  return result;
}

Tensor Floats(std::vector<int64_t> shape) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32), shape);
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>(i + 1);
  }
  return tensor;
}

// ONNX's specification of the reductions: over an empty set of values, the
// neutral element of the operation; of max and min that is the infinity.
TEST(EmptyReduction, GivesTheNeutralElement) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<std::string, float>> cases = {
      {"reduce_sum", 0.0f},         {"reduce_prod", 1.0f},
      {"reduce_max", -kInf},        {"reduce_min", kInf},
      {"reduce_l1", 0.0f},          {"reduce_l2", 0.0f},
      {"reduce_sum_square", 0.0f},  {"reduce_log_sum", -kInf},
      {"reduce_log_sum_exp", -kInf}};
  for (const auto& [op, neutral] : cases) {
    const auto y = RunEverywhere(
        "%x: f32[n, 2]", op + "(%x) {axes=[0], keepdims=0}", {Floats({0, 2})});
    ASSERT_TRUE(y.ok()) << op << ": " << y.status();
    ASSERT_EQ(y->NumElements(), 2) << op;
    EXPECT_EQ(y->data<float>()[0], neutral) << op;
    EXPECT_EQ(y->data<float>()[1], neutral) << op;
  }
}

TEST(EmptyReduction, NothingHasNoExtremePosition) {
  for (const std::string op : {"argmax", "argmin"}) {
    const auto y =
        RunEverywhere("%x: f32[n, 2]", op + "(%x) {axis=0}", {Floats({0, 2})});
    EXPECT_TRUE(absl::IsInvalidArgument(y.status())) << y.status();
    EXPECT_THAT(std::string(y.status().message()), HasSubstr("min(n, 1)"));
    // No results, no positions.
    const auto none =
        RunEverywhere("%x: f32[n, m]", op + "(%x) {axis=0}", {Floats({0, 0})});
    ASSERT_TRUE(none.ok()) << none.status();
    EXPECT_EQ(none->NumElements(), 0);
  }
}

// Clamped indices find nothing in an empty axis; nothing is read then.
TEST(EmptyGather, GivesZeros) {
  Tensor indices = *Tensor::Empty(DataType::Int(64), {3});
  for (int i = 0; i < 3; ++i) indices.mutable_data<int64_t>()[i] = i - 1;
  const auto y =
      RunEverywhere("%x: f32[n, 2], %i: i64[3]", "gather(%x, %i) {axis=0}",
                    {Floats({0, 2}), indices});
  ASSERT_TRUE(y.ok()) << y.status();
  for (float v : y->values<float>()) EXPECT_EQ(v, 0.0f);
  const auto some =
      RunEverywhere("%x: f32[n, 2], %i: i64[3]", "gather(%x, %i) {axis=0}",
                    {Floats({2, 2}), indices});
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_THAT(some->values<float>(), ::testing::ElementsAre(3, 4, 1, 2, 3, 4));
}

// Padding makes a dimension of no elements wide, but not wide enough.
TEST(EmptyWindow, HasNoPlace) {
  const std::string op = "max_pool2d(%x) {kernel=[3, 3], pads=[0, 1, 0, 1]}";
  const Tensor x = Floats({1, 2, 9, 0});
  const auto y = RunEverywhere("%x: f32[1, 2, 9, n]", op, {x});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT(y->shape(), ::testing::ElementsAre(1, 2, 7, 0));
  const auto module = relay::ReadModule(absl::StrCat(
      "module { func @main(%x: f32[1, 2, 9, n]) -> (%y) { %y = ", op, " } }"));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto same = relay::EvaluateFunction(**module, *(*module)->main(), {x});
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_THAT((*same)[0].shape(), ::testing::ElementsAre(1, 2, 7, 0));
}

// As numpy broadcasts: 1 becomes 0 where the other one is 0.
TEST(EmptyBroadcast, OfOneIsEmpty) {
  for (const auto& [n, m, both] : std::vector<std::array<int64_t, 3>>{
           {0, 1, 0}, {1, 0, 0}, {0, 0, 0}, {1, 3, 3}, {2, 1, 2}, {2, 2, 2}}) {
    const auto y = RunEverywhere("%x: f32[n, 2], %z: f32[m, 2]", "add(%x, %z)",
                                 {Floats({n, 2}), Floats({m, 2})});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_THAT(y->shape(), ::testing::ElementsAre(both, 2));
  }
}

// Views of views of a constant, in shapes that the run must confirm.
TEST(SymbolicViews, OfConstants) {
  for (int64_t n : {0, 2, 3}) {
    const auto y = RunEverywhere(
        "%x: f32[n]", "unsqueeze(%v) {axes=[0]}", {Floats({n})},
        "%k = const f32[6] fill(2) %v = reshape(%k, %x) {shape=[n, 2]}");
    EXPECT_EQ(y.ok(), n == 3) << y.status();
  }
}

}  // namespace
}  // namespace ingot
