#include "my_cc/codegen.h"

#include "absl/strings/str_cat.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace acme {
namespace {

using ingot::testing_support::CompareWithEvaluate;
using ingot::testing_support::GenerateRegion;
using ingot::testing_support::TextOf;
using ingot::testing_support::WhyNot;
using ::testing::HasSubstr;

class MyCcTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const absl::Status added =
        ingot::testing_support::AddBackend(RegisterMyCcTarget, nullptr);
    ASSERT_TRUE(added.ok()) << added;
  }
};

// Compiled, linked, loaded, run, and compared with the interpreter.
TEST_F(MyCcTest, ComputesWhatTheInterpreterDoes) {
  for (const char* nodes :
       {"%y = relu(%x)", "%y = neg(%x)", "%y = leaky_relu(%x) {alpha=0.25}",
        "%a = const f32[] {3} %b = const f32[] {0.5} "
        "%s = mul(%x, %a) %y = add(%s, %b)",
        "%a = const f32[2, 5] random(7) %b = const f32[] {1} "
        "%s = mul(%x, %a) %t = add(%s, %b) %y = relu(%t)"}) {
    EXPECT_EQ(CompareWithEvaluate(
                  "my_cc", absl::StrCat("module { func @main(%x: f32[2, 5]) -> "
                                        "(%y) { ",
                                        nodes, " } }")),
              absl::OkStatus())
        << nodes;
  }
}

TEST_F(MyCcTest, PrintsAnAttribute) {
  const auto set = GenerateRegion("my_cc",
                                  "module { func @main(%x: f32[4]) -> (%y) "
                                  "{ %y = leaky_relu(%x) {alpha=0.25} } }");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(TextOf(*set, "my_cc"), HasSubstr("(float)0.25 * "));
}

TEST_F(MyCcTest, SaysWhyNot) {
  EXPECT_EQ(WhyNot("my_cc",
                   "module { func @main(%x: f32[4]) -> (%y) "
                   "{ %y = exp(%x) } }"),
            "only leaky_relu, neg and relu");
  EXPECT_EQ(WhyNot("my_cc",
                   "module { func @main(%x: i32[4]) -> (%y) "
                   "{ %y = neg(%x) } }"),
            "only f32, not i32");
}

}  // namespace
}  // namespace acme
