// Blocks of threads: what they mean, and what they must not do.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/tir/interpreter.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/passes/pass.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::tir {
namespace {

using ::testing::HasSubstr;

// Each block turns four numbers around; threads keep twice their number.
constexpr char kReverse[] = R"(func @reverse(%x: f32[8]) -> (%y: f32[8]) {
  block b in [0, 2) {
    alloc %s: f32[4] shared
    alloc %r: f32[4, 1] registers
    thread t in [0, 4) {
      %s[t] = %x[b * 4 + t]
      %r[t, 0] = %x[b * 4 + t] * 2.0f
    }
    thread t_1 in [0, 4) {
      %y[b * 4 + t_1] = %s[3 - t_1] + %r[t_1, 0]
    }
  }
}
)";

Tensor Numbers() {
  Tensor x = *Tensor::Empty(DataType::Float(32), {8});
  for (int i = 0; i < 8; ++i) x.mutable_data<float>()[i] = 1.0f + i;
  return x;
}

absl::Status RunText(const std::string& text, Tensor* y) {
  const absl::StatusOr<PrimFunc> func = Parse(text);
  if (!func.ok()) return func.status();
  if (const absl::Status verified = Verify(*func); !verified.ok()) {
    return verified;
  }
  *y = *Tensor::Empty(DataType::Float(32), {8});
  return Interpret(*func, {Numbers(), *y});
}

TEST(Blocks, PrintAndParse) {
  const auto func = Parse(kReverse);
  ASSERT_TRUE(func.ok()) << func.status();
  EXPECT_EQ(Print(*func), kReverse);
}

TEST(Blocks, ComputeWhatTheirLoopsDo) {
  Tensor y;
  const absl::Status status = RunText(kReverse, &y);
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<float> expected = {6, 7, 8, 9, 18, 19, 20, 21};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(y.data<float>()[i], expected[i]) << i;
}

// A block of one thread still is one.
TEST(Blocks, StayBlocksWhenTheyAreSimplified) {
  const auto func = Parse(R"(
func @f(%x: f32[8]) -> (%y: f32[8]) {
  block b in [0, 1) {
    thread t in [0, 1) {
      for i in [0, 8) {
        %y[i] = %x[i + t + b]
      }
    }
  }
}
)");
  ASSERT_TRUE(func.ok()) << func.status();
  const auto simplified = RunPasses(*func, {"simplify", "unroll_loops"});
  ASSERT_TRUE(simplified.ok()) << simplified.status();
  EXPECT_THAT(Print(*simplified), HasSubstr("block b in [0, 1) {\n"
                                            "    thread t in [0, 1) {"));
}

// Runs kReverse with another text in a place.
void ExpectWrong(const std::string& text, const std::string& other,
                 const std::string& message) {
  ASSERT_THAT(kReverse, HasSubstr(text));
  Tensor y;
  const absl::Status status =
      RunText(absl::StrReplaceAll(kReverse, {{text, other}}), &y);
  EXPECT_FALSE(status.ok()) << other;
  EXPECT_THAT(std::string(status.message()), HasSubstr(message));
}

TEST(Blocks, ThreadsMustNotDisturbOneAnother) {
  // All write one element.
  ExpectWrong("%s[t] = ", "%s[0] = ",
              "store to %s[0] by thread 1 of block 0: another thread uses it "
              "meanwhile");
  // They read what others write in the same loop.
  ExpectWrong("* 2.0f", "* %s[0]",
              "load of %s[0] by thread 1 of block 0: another thread uses it");
  // They write what others have read in the same loop.
  ExpectWrong("%s[3 - t_1] + %r[t_1, 0]", "%s[(t_1 + 1) % 4] %s[t_1] = 0.0f",
              "store to %s[1] by thread 1 of block 0: another thread uses it");
  // Blocks write one element.
  ExpectWrong("%y[b * 4 + t_1]", "%y[t_1]",
              "store to %y[0] by thread 0 of block 1: another thread uses it");
}

TEST(Blocks, ReadOnlyWhatWasWritten) {
  ExpectWrong("%s[t] = %x[b * 4 + t]", "%s[t // 2] = %x[b]", "by thread 1");
  ExpectWrong("thread t in [0, 4)", "thread t in [0, 3)",
              "load of %s[3] by thread 0 of block 0: no thread has written it");
}

TEST(Blocks, RegistersAreOfOneThread) {
  ExpectWrong("+ %r[t_1, 0]", "+ %r[3 - t_1, 0]",
              "load of %r[3, 0] by thread 0 of block 0: these are another "
              "thread's");
}

TEST(Blocks, VerifierKnowsTheRules) {
  ExpectWrong("block b", "for b",
              "a shared buffer is allocated inside of no block");
  ExpectWrong("block b", "parallel b", "inside of no block");
  ExpectWrong("    alloc %r: f32[4, 1] registers\n",
              "    alloc %r: f32[4, 1] registers\n    %s[0] = 1.0f\n",
              "a block stores outside of its thread loops");
  ExpectWrong("thread t in [0, 4)", "thread t in [1, +3)",
              "a thread loop does not begin at 0");
  ExpectWrong("%s[t] = %x[b * 4 + t]", "thread u in [0, 4) { %s[t] = 1.0f }",
              "a thread loop is inside of no block loop, or of another");
  ExpectWrong("%s[t] = %x[b * 4 + t]", "block u in [0, 4) { %s[t] = 1.0f }",
              "the loop is inside a parallel loop");
  ExpectWrong("%s: f32[4] shared", "%s: f32[b] shared",
              "a shared buffer's size must be constant");
  ExpectWrong("%s: f32[4] shared", "%s: f32[4] stack",
              "stores to the stack buffer %s from outside");
  ExpectWrong("%s: f32[4] shared", "%s: f32[4] registers",
              "registers have as many dimensions for threads");
  ExpectWrong("%s: f32[4] shared", "%s: f32[1000000] shared",
              "bytes of shared buffers");
}

}  // namespace
}  // namespace ingot::tir
