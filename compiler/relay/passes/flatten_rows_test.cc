// Tests which kernels get one long row, and that they compute the same on it.
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/test_support.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

// The type of the first operand of main's first call, or an error's text.
std::string TakenBy(absl::string_view main) {
  const auto module =
      CheckKeepsMeaning(absl::StrCat("module { func @main", main, " }"),
                        {"fuse_ops", "flatten_rows"}, 1e-5);
  if (module == nullptr) return "(failed)";
  for (const auto& node : module->main()->nodes()) {
    if (node->kind == NodeKind::kCallFunction) {
      return ToString(node->inputs[0].type());
    }
  }
  return "(no call)";
}

// A convolution on blocks of 4 channels with what is fused to it.
std::string Blocked(absl::string_view kernel, absl::string_view attrs) {
  return TakenBy(absl::StrCat(
      "(%x: f32[2, 3, 5, 6, 4]) -> (%y) {\n", "  %w = const f32[2, 3, ", kernel,
      ", 4, 4] random(1)\n", "  %b = const f32[1, 2, 1, 1, 4] random(2)\n",
      "  %c = conv2d(%x, %w) {", attrs,
      " data_layout=\"NCHW4c\","
      " kernel_layout=\"OIHW4i4o\"}\n",
      "  %s = add(%c, %b)\n  %y = relu(%s)\n}"));
}

TEST(FlattenRowsTest, ConvolutionsOfPointsInBlocks) {
  EXPECT_EQ(Blocked("1, 1", ""), "f32[2, 3, 1, 30, 4]");
  EXPECT_EQ(Blocked("1, 1", "strides=[2, 2],"), "f32[2, 3, 5, 6, 4]");
  EXPECT_EQ(Blocked("1, 1", "pads=[0, 1, 0, 1],"), "f32[2, 3, 5, 6, 4]");
  EXPECT_EQ(Blocked("3, 1", ""), "f32[2, 3, 5, 6, 4]");
}

TEST(FlattenRowsTest, ResidualsOfBlocksAreFlattenedToo) {
  EXPECT_EQ(
      TakenBy(R"((%x: f32[1, 2, 3, 5, 8], %r: f32[1, 2, 3, 5, 8]) -> (%y) {
    %w = const f32[2, 2, 1, 1, 8, 8] random(1)
    %c = conv2d(%x, %w) {data_layout="NCHW8c", kernel_layout="OIHW8i8o"}
    %y = add(%c, %r)
  })"),
      "f32[1, 2, 1, 15, 8]");
}

TEST(FlattenRowsTest, GroupsInPlainLayout) {
  EXPECT_EQ(TakenBy(R"((%x: f32[1, 6, 4, 5]) -> (%y) {
    %w = const f32[9, 2, 1, 1] random(1)
    %y = conv2d(%x, %w) {groups=3}
  })"),
            "f32[1, 6, 1, 20]");
}

TEST(FlattenRowsTest, ProductsByOneMatrix) {
  EXPECT_EQ(TakenBy(R"((%x: f32[2, 3, 4, 5]) -> (%y) {
    %w = const f32[5, 7] random(1)
    %m = matmul(%x, %w)
    %y = relu(%m)
  })"),
            "f32[1, 1, 24, 5]");
  EXPECT_EQ(TakenBy(R"((%x: f32[2, 3, 5], %w: f32[2, 5, 7]) -> (%y) {
    %y = matmul(%x, %w)
  })"),
            "f32[2, 3, 5]");
}

}  // namespace
}  // namespace ingot::relay
