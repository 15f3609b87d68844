#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/relay/parser.h"
#include "compiler/tir/parser.h"
#include "gtest/gtest.h"
#include "tools/ingot/bisect_kernels.h"
#include "tools/ingot/bisect_loops.h"
#include "tools/ingot/bisect_passes.h"

namespace ingot {
namespace {

Tensor TensorOf(const std::vector<float>& values) {
  absl::StatusOr<Tensor> tensor =
      Tensor::Empty(DataType::Float(32), {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor->mutable_data<float>());
  return *std::move(tensor);
}

std::unique_ptr<relay::Module> Module(const std::string& main) {
  absl::StatusOr<std::unique_ptr<relay::Module>> module =
      relay::ReadModule("module {\n" + main + "}\n");
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// The node that differs between two forms of main(%x: f32[4]).
WrongNode Find(const std::string& before, const std::string& after) {
  const auto a = Module(before), b = Module(after);
  const std::vector<TensorOrSequence> inputs = {TensorOf({1, -2, 3, -4})};
  const absl::StatusOr<ModuleValues> x = ComputeAll(a.get(), inputs);
  const absl::StatusOr<ModuleValues> y = ComputeAll(b.get(), inputs);
  EXPECT_TRUE(x.ok() && y.ok()) << x.status() << y.status();
  const absl::StatusOr<WrongNode> node = FirstWrongNode(*x, *y, Tolerance());
  EXPECT_TRUE(node.ok()) << node.status();
  return *node;
}

constexpr char kBefore[] = R"(func @main(%x: f32[4]) -> (%c) {
  %a = abs(%x) from "A"
  %b = mul(%a, %x) from "B"
  %c = exp(%b) from "C"
})";

TEST(FirstWrongNodeTest, TheFirstThatDiffersIsNamed) {
  const WrongNode node = Find(kBefore, R"(func @main(%x: f32[4]) -> (%c) {
    %a = abs(%x) from "A"
    %b = add(%a, %x) from "B"
    %c = exp(%b) from "C"
  })");
  EXPECT_EQ(node.name, "b");
  EXPECT_EQ(node.sources, std::vector<std::string>{"B"});
  EXPECT_EQ(node.problem, "[0] is 2 and should be 1");
}

TEST(FirstWrongNodeTest, ANewOneIsNamedWhereWrongValuesComeOfIt) {
  const WrongNode node = Find(kBefore, R"(func @main(%x: f32[4]) -> (%c) {
    %n = neg(%x) from "N"
    %a = abs(%n) from "A"
    %b = mul(%a, %x) from "B"
    %m = neg(%b) from "M"
    %c = exp(%m) from "C"
  })");
  EXPECT_EQ(node.name, "m");
}

// %a means something else after it, but %b is as before.
TEST(FirstWrongNodeTest, WhatARightValueHidesIsNotWrong) {
  const WrongNode node = Find(kBefore, R"(func @main(%x: f32[4]) -> (%c) {
    %a = mul(%x, %x) from "A"
    %s = sign(%x) from "B"
    %b = mul(%a, %s) from "B"
    %c = neg(%b) from "C"
  })");
  EXPECT_EQ(node.name, "c");
}

TEST(FirstWrongNodeTest, AnotherLayoutIsNoDifference) {
  const WrongNode node = Find(kBefore, R"(func @main(%x: f32[4]) -> (%c) {
    %n = reshape(%x) {shape=[2, 2]} from "N"
    %a = abs(%n) from "A"
    %p = reshape(%a) {shape=[4]} from "P"
    %b = add(%p, %x) from "B"
    %c = exp(%b) from "C"
  })");
  EXPECT_EQ(node.name, "b");
}

TEST(FirstWrongNodeTest, WhatIsOfNoNodeIsToldByWhoReadsIt) {
  const WrongNode node = Find(kBefore, R"(func @main(%x: f32[4]) -> (%c) {
    %a = abs(%x) from "A"
    %n = neg(%a)
    %m = exp(%n)
    %b = mul(%m, %x) from "B"
    %c = exp(%b) from "C"
  })");
  EXPECT_EQ(node.name, "n");
  EXPECT_TRUE(node.is_between_nodes);
  EXPECT_EQ(node.sources, std::vector<std::string>{"B"});
}

TEST(FirstWrongPassTest, AsksNoMoreThanItMust) {
  for (int wrong = 1; wrong <= 32; ++wrong) {
    int asked = 0;
    const absl::StatusOr<int> found =
        FirstWrongPass(0, 32, [&](int passes) -> absl::StatusOr<bool> {
          ++asked;
          return passes < wrong;
        });
    EXPECT_EQ(*found, wrong);
    EXPECT_EQ(asked, 5);
  }
}

TEST(FindGuiltyTest, TheOneThatMattersAmongThoseThatAreOff) {
  std::vector<WrongKernel> wrong(9);
  for (size_t i = 0; i < wrong.size(); ++i) {
    wrong[i].symbol = std::string(1, static_cast<char>('a' + i));
  }
  for (const std::string guilty : {"a", "e", "i"}) {
    int runs = 0;
    const absl::StatusOr<const WrongKernel*> found = FindGuilty(
        wrong, [&](std::set<std::string> repaired) -> absl::StatusOr<bool> {
          ++runs;
          return repaired.count(guilty) > 0;
        });
    EXPECT_EQ((*found)->symbol, guilty);
    EXPECT_LE(runs, 4);
  }
}

TEST(FirstWrongStageTest, LoopsAreRunOnTheKernelsOperands) {
  const auto loops = [](const std::string& sign) {
    absl::StatusOr<tir::PrimFunc> func = tir::Parse(
        "func @k(%x: f32[2]) -> (%y: f32[2]) {\n  for i in [0, 2) {\n"
        "    %y[i] = %x[i] " +
        sign + " %x[i]\n  }\n}\n");
    EXPECT_TRUE(func.ok()) << func.status();
    return *func;
  };
  WrongKernel kernel;
  kernel.operands = {TensorOf({1, 2})};
  kernel.expected = {TensorOf({2, 4})};
  const std::vector<LoopStage> wrong = {{"lower", loops("+")},
                                        {"simplify", loops("*")}};
  const auto found = FirstWrongStage(wrong, kernel, Tolerance());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)->name, "simplify");
  const std::vector<LoopStage> right = {{"lower", loops("+")}};
  EXPECT_EQ(*FirstWrongStage(right, kernel, Tolerance()), nullptr);
}

}  // namespace
}  // namespace ingot
