// Where rules keep away, since the result would be another one: numbers at the
// ends of a type's range, last bits that decide, and operands that are larger
// than what a rule looks for.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/relay/passes/test_support.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

using Names = std::vector<std::string>;

// The operators that are left of a function after both passes that fold
// constants into others.
Names Left(absl::string_view body, double tolerance = 1e-5) {
  return OpsAfter(Main(body), {"fold_batch_norm", "simplify"}, tolerance);
}

TEST(SimplifyTest, LayerNormHasTheShapeOfItsOperand) {
  const auto left = [](absl::string_view epsilon) {
    return Left(absl::StrReplaceAll(R"((%x: f32[2, 3]) -> (%y) {
      %e = const EPS fill(0.01)
      %m = reduce_mean(%x) {axes=[-1]}
      %d = sub(%x, %m)
      %q = mul(%d, %d)
      %v = reduce_mean(%q) {axes=[-1]}
      %p = add(%v, %e)
      %r = sqrt(%p)
      %y = div(%d, %r)
    })",
                                    {{"EPS", epsilon}}));
  };
  EXPECT_THAT(left("f32[1]"), ElementsAre("layer_norm"));
  EXPECT_THAT(left("f32[1, 1, 1]"), Not(Contains("layer_norm")));
  EXPECT_THAT(left("f32[2, 1, 1]"), Not(Contains("layer_norm")));
}

// A number so large that its last bit is a whole one rounds what is added.
TEST(SimplifyTest, RoundingByAddition) {
  const auto left = [](absl::string_view type, absl::string_view number) {
    return Left(
        absl::StrCat("(%x: ", type, "[4]) -> (%y) { %c = const ", type, "[] {",
                     number, "} %a = add(%x, %c)", " %y = sub(%a, %c) }"),
        1e-3);
  };
  EXPECT_THAT(left("f32", "12582912"), ElementsAre("add", "add"));
  EXPECT_THAT(left("f64", "6755399441055744"), ElementsAre("add", "add"));
  EXPECT_THAT(left("f32", "4096"), ElementsAre());
}

// x * w * s, of matrices.
Names Scaled(absl::string_view type, absl::string_view weight,
             absl::string_view factors) {
  return Left(absl::StrReplaceAll(
      R"((%x: TYPE[3, 2]) -> (%y) {
        %w = const TYPE[2, 2] {WEIGHT, 0, 0, WEIGHT}
        %s = const TYPE[2] {FACTORS}
        %a = matmul(%x, %w)
        %y = mul(%a, %s)
      })",
      {{"TYPE", type}, {"WEIGHT", weight}, {"FACTORS", factors}}));
}

TEST(SimplifyTest, FactorsStayOutOfWeightsThatWouldNotHoldThem) {
  EXPECT_THAT(Scaled("f16", "0.5", "0.25, 2"), ElementsAre("matmul"));
  EXPECT_THAT(Scaled("f32", "1e25", "1e-5, 0"), ElementsAre("matmul"));
  // Too large, too small for one of the channels, and no number.
  EXPECT_THAT(Scaled("f16", "0.5", "1, 1e-4"), ElementsAre("matmul", "mul"));
  EXPECT_THAT(Scaled("f16", "300", "1, 300"), ElementsAre("matmul", "mul"));
  EXPECT_THAT(Scaled("f32", "1e25", "1, 1e20"), ElementsAre("matmul", "mul"));
  EXPECT_THAT(Scaled("f32", "1e-25", "1, 1e-20"), ElementsAre("matmul", "mul"));
  EXPECT_THAT(Scaled("f32", "1", "1, inf"), ElementsAre("matmul", "mul"));
}

TEST(SimplifyTest, FactorsOfChannelsInGroups) {
  const auto left = [](absl::string_view op, absl::string_view shape,
                       absl::string_view factors) {
    return Left(absl::StrReplaceAll(
        R"((%x: f16[1, 4, 3, 3]) -> (%y) {
          %w = const f16[SHAPE] fill(0.5)
          %s = const f16[4, 1, 1] {FACTORS}
          %a = OP(%x, %w) {groups=2}
          %y = mul(%a, %s)
        })",
        {{"OP", op}, {"SHAPE", shape}, {"FACTORS", factors}}));
  };
  EXPECT_THAT(left("conv2d", "4, 2, 1, 1", "1, 2, 4, 8"),
              ElementsAre("conv2d"));
  EXPECT_THAT(left("conv2d", "4, 2, 1, 1", "1, 2, 3, 1e-5"),
              ElementsAre("conv2d", "mul"));
  EXPECT_THAT(left("conv_transpose2d", "4, 2, 1, 1", "1, 2, 4, 8"),
              ElementsAre("conv_transpose2d"));
  EXPECT_THAT(left("conv_transpose2d", "4, 2, 1, 1", "1, 2, 1e-5, 4"),
              ElementsAre("conv_transpose2d", "mul"));
}

TEST(SimplifyTest, BiasesWhoseSumOrProductIsTooLarge) {
  const auto left = [](absl::string_view op, absl::string_view b) {
    return Left(absl::StrReplaceAll(
        R"((%x: f16[3, 2]) -> (%y) {
          %w = const f16[2, 2] {1, 0, 0, 1}
          %b = const f16[2] {B, 1}
          %c = const f16[2] {2, B}
          %a = matmul(%x, %w)
          %d = add(%a, %b)
          %y = OP(%d, %c)
        })",
        {{"OP", op}, {"B", b}}));
  };
  EXPECT_THAT(left("add", "3"), ElementsAre("matmul", "add"));
  EXPECT_THAT(left("add", "40000"), ElementsAre("matmul", "add", "add"));
  EXPECT_THAT(left("mul", "3"), ElementsAre("matmul", "add"));
  EXPECT_THAT(left("mul", "400"), ElementsAre("matmul", "add", "mul"));
}

// A quotient that is a whole number must not become the one below.
TEST(SimplifyTest, DivisionsOnWhichLastBitsDependStay) {
  const auto left = [](absl::string_view rest) {
    return Left(absl::StrCat(
        "(%x: f32[2, 3]) -> (%y) { %c = const f32[] {41} %q = div(%x, %c) ",
        rest, " }"));
  };
  EXPECT_THAT(left("%y = exp(%q)"), ElementsAre("mul", "exp"));
  for (const char* op : {"equal", "less", "less_equal", "greater", "mod"}) {
    EXPECT_THAT(left(absl::StrCat("%y = ", op, "(%q, %x)")),
                ElementsAre("div", op));
  }
  for (const char* moved :
       {"%m = transpose(%q) {axes=[1, 0]}", "%m = concat(%q, %q) {axis=0}",
        "%m = relu(%q)", "%m = add(%q, %x)", "%n = neg(%q) %m = abs(%n)"}) {
    EXPECT_THAT(left(absl::StrCat(moved, " %y = floor(%m)")), Contains("div"))
        << moved;
  }
  // Sums are rounded anyway, and erf's last bit is anybody's.
  EXPECT_THAT(left("%m = reduce_sum(%q) %y = floor(%m)"),
              ElementsAre("mul", "reduce_sum", "floor"));
  EXPECT_THAT(left("%m = erf(%q) %n = add(%m, %x) %y = floor(%n)"),
              Contains("mul"));
}

// A batch norm's vectors are of channels, not of the last dimension.
TEST(SimplifyTest, PartsOfAProjectionBehindABatchNorm) {
  for (const int channels : {4, 6}) {
    const std::vector<std::string> left =
        OpsAfter(Main(absl::StrReplaceAll(
                     R"((%x: f32[2, C, 3]) -> (%a, %b) {
          %w = const f32[3, 6] fill(0.5)
          %s = const f32[C] fill(2)
          %v = const f32[C] fill(3)
          %p = matmul(%x, %w)
          %n = batch_norm(%p, %s, %s, %s, %v)
          %r = reshape(%n) {shape=[2, C, 2, 3]}
          %t = transpose(%r) {axes=[2, 0, 1, 3]}
          %a = slice(%t) {starts=[0], ends=[1], axes=[0]}
          %b = slice(%t) {starts=[1], ends=[2], axes=[0]}
        })",
                     {{"C", absl::StrCat(channels)}})),
                 {"simplify"});
    EXPECT_THAT(left, Contains("batch_norm"));
  }
}

// Scales of a vector's elements do not broadcast to it.
TEST(SimplifyTest, ExpandedBeforeItIsQuantized) {
  for (const char* call :
       {"quantize(%e, %s) {axis=0, dtype=u8}", "dequantize(%e, %s) {axis=0}"}) {
    const char* const type = *call == 'q' ? "f32" : "u8";
    EXPECT_THAT(
        Left(absl::StrCat("(%x: ", type, "[1]) -> (%y) {",
                          " %s = const f32[3] {0.5, 0.25, 1}",
                          " %e = expand(%x) {shape=[3]} %y = ", call, " }")),
        Contains("expand"));
  }
}

}  // namespace
}  // namespace ingot::relay
