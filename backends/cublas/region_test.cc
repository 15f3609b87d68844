#include "backends/cublas/region.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::cublas {
namespace {

using testing::HasSubstr;

constexpr char kRegion[] = R"(function f
input f32 2 3 4
input f32 4 5
input f32 5
output f32 2 3 5
temporary 30
product: 3 5 4 2 left: 0 0 12 right: 1 0 0 result: 4 0 15 bias: 2
product: 3 5 5 1 left: 4 15 0 right: 1 0 0 transposed result: 3 15 0 added: 4 then: relu
)";

TEST(CublasRegion, TextIsReadAndWritten) {
  const std::string text =
      absl::StrReplaceAll(kRegion, {{"input f32 4 5", "input f32 5 5"}});
  const auto region = ReadRegion(text);
  ASSERT_TRUE(region.ok()) << region.status();
  EXPECT_EQ(region->name, "f");
  ASSERT_EQ(region->products.size(), 2u);
  EXPECT_EQ(region->products[0].bias, 2);
  EXPECT_FALSE(region->products[0].relu);
  EXPECT_TRUE(region->products[1].right_transposed);
  EXPECT_EQ(region->products[1].added, 4);
  EXPECT_TRUE(region->products[1].relu);
  EXPECT_THAT(WriteRegion(*region), HasSubstr(text));
}

// A file may come from anywhere.
TEST(CublasRegion, WhatDoesNotFitIsRefused) {
  const std::string good =
      absl::StrReplaceAll(kRegion, {{"input f32 4 5", "input f32 5 5"}});
  struct Case {
    const char *from, *to, *error;
  };
  for (const Case& c : std::vector<Case>{
           {"function f\n", "", "there is no function"},
           {"input f32 5\n", "input f16 5\n", "it is no f32"},
           {"temporary 30", "temporary 0", "a number of elements"},
           {"temporary 30", "temporary -1", "a number of elements"},
           {"3 5 4 2 left", "3 5 4 left", "m, n, k and count"},
           {"3 5 4 2 left", "3 5 4 0 left", "0 is out of range"},
           {"3 5 4 2 left", "3 5 9999999999 2 left", "is out of range"},
           {"left: 0 0 12", "left: 0 0 13", "left: matrices reach beyond"},
           {"left: 0 0 12", "left: 0 1 12", "left: matrices reach beyond"},
           {"left: 0 0 12", "left: 0 -1 12", "left: matrices begin beyond"},
           {"left: 0 0 12", "left: 0 9223372036854775807 12",
            "left: matrices begin beyond"},
           {"left: 0 0 12", "left: 5 0 12", "left: matrices begin beyond"},
           {"left: 0 0 12", "left: -1 0 12", "left: matrices begin beyond"},
           {"left: 0 0 12", "left: 0 0", "left: takes a value"},
           {"left: 0 0 12", "left: 0 0 x", "'x' is not an integer"},
           {"result: 4 0 15", "result: 0 0 12", "beyond their value"},
           {"result: 4 0 15", "result: 4 0 14", "written once"},
           {"result: 3 15 0", "result: 1 0 0", "and no input"},
           {"bias: 2", "bias: 1", "bias: takes a value of the right size"},
           {"bias: 2", "bias: 9", "bias: takes a value of the right size"},
           {"added: 4", "added: 2", "added: takes a value of the right size"},
           {"then: relu", "then: tanh", "only relu may come after"},
           {"product: 3 5 4 2", "sum: 3 5 4 2", "nothing is called 'sum:'"},
           {"temporary 30\nproduct", "product", "begin beyond their value"},
       }) {
    const std::string text = absl::StrReplaceAll(good, {{c.from, c.to}});
    ASSERT_NE(text, good) << c.from;
    const absl::Status status = ReadRegion(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.to;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.error)) << c.to;
  }
}

// No sum of their bytes is beyond what a number holds.
TEST(CublasRegion, TooManyTemporariesAreRefused) {
  std::string text = "function f\n";
  for (int i = 0; i <= 1 << 16; ++i) text += "temporary 1099511627776\n";
  EXPECT_THAT(std::string(ReadRegion(text).status().message()),
              HasSubstr("a number of elements, and there are at most 65536"));
}

}  // namespace
}  // namespace ingot::cublas
