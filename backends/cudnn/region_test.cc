#include "backends/cudnn/region.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::cudnn {
namespace {

using testing::HasSubstr;

constexpr char kRegion[] = R"(function f
input f32 2 4 9 8
input f32 6 2 3 3
input f32 6
output f32 2 6 5 8
temporary 480
convolution: data: 0 2 4 9 8 kernel: 1 6 2 3 3 result: 4 2 6 5 8 strides: 2 1 pads: 1 1 dilations: 1 1 groups: 2
convolution: data: 0 2 4 9 8 kernel: 1 6 2 3 3 result: 3 2 6 5 8 strides: 2 1 pads: 1 1 dilations: 1 1 groups: 2 bias: 2 added: 4 then: relu
)";

TEST(CudnnRegion, TextIsReadAndWritten) {
  const auto region = ReadRegion(kRegion);
  ASSERT_TRUE(region.ok()) << region.status();
  EXPECT_EQ(region->name, "f");
  ASSERT_EQ(region->convolutions.size(), 2u);
  EXPECT_EQ(region->convolutions[0].bias, -1);
  EXPECT_EQ(region->convolutions[1].added, 4);
  EXPECT_TRUE(region->convolutions[1].relu);
  EXPECT_THAT(WriteRegion(*region), HasSubstr(kRegion));
}

// A file may come from anywhere.
TEST(CudnnRegion, WhatDoesNotFitIsRefused) {
  struct Case {
    const char *from, *to, *error;
  };
  for (const Case& c : std::vector<Case>{
           {"function f\n", "", "there is no function"},
           {"data: 0 2 4 9 8", "data: 0 2 4 9", "four dimensions"},
           {"data: 0 2 4 9 8", "data: 0 2 4 9 9", "another size"},
           {"data: 0 2 4 9 8", "data: 0 2 4 0 8", "is out of range"},
           {"data: 0 2 4 9 8", "data: 0 -2 4 9 8", "is out of range"},
           {"data: 0 2 4 9 8", "data: 0 65536 65536 9 8", "is out of range"},
           {"data: 0 2 4 9 8", "data: 7 2 4 9 8", "another size"},
           {"data: 0 2 4 9 8", "data: 0 2 8 9 4", "do not fit groups"},
           {"result: 4 2 6 5 8", "result: 4 2 6 8 5", "another shape"},
           {"result: 4 2 6 5 8", "result: 0 2 4 9 8", "is no input"},
           {"strides: 2 1 pads: 1 1", "strides: 0 1 pads: 1 1",
            "strides: 0 is out of range"},
           {"strides: 2 1", "strides: 2", "strides: takes 2 numbers"},
           {"pads: 1 1", "pads: -1 1", "pads: -1 is out of range"},
           {"pads: 1 1", "pads: 9999999 1", "is out of range"},
           {"pads: 1 1", "pads: 0 1", "another shape"},
           {"dilations: 1 1", "dilations: 20 1", "another shape"},
           {"groups: 2", "groups: 4", "do not fit groups"},
           {"bias: 2", "bias: 1", "bias: takes a value of the right size"},
           {"added: 4", "added: 2", "added: takes a value of the right size"},
           {"bias: 2 ", "", "comes after a bias"},
           {"then: relu", "then: tanh", "only relu may come after"},
           {"convolution: data: 0", "pool: data: 0", "nothing is called"},
       }) {
    const std::string text = absl::StrReplaceAll(kRegion, {{c.from, c.to}});
    ASSERT_NE(text, kRegion) << c.from;
    const absl::Status status = ReadRegion(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.to;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.error)) << c.to;
  }
}

}  // namespace
}  // namespace ingot::cudnn
