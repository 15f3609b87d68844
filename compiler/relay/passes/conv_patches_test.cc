// Convolutions that cut an image into patches, as products.
#include "absl/strings/str_cat.h"
#include "compiler/relay/passes/test_support.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::ElementsAre;

int CountProducts(absl::string_view shape, absl::string_view kernel,
                  absl::string_view attrs) {
  const auto module = CheckKeepsMeaning(
      Main(absl::StrCat("(%x: f32[", shape, "]) -> (%y) { %w = const f32[",
                        kernel, "] random(1) %y = conv2d(%x, %w) {", attrs,
                        "} }")),
      {"block_layout"});
  return module == nullptr ? -1 : CountOps(*module, "matmul");
}

TEST(ConvPatchesTest, WindowsSideBySide) {
  EXPECT_EQ(CountProducts("2, 3, 32, 48", "7, 3, 16, 16", "strides=[16, 16]"),
            1);
  EXPECT_EQ(CountProducts("n, 1, 32, 16", "8, 1, 32, 8", "strides=[32, 8]"), 1);
}

TEST(ConvPatchesTest, OtherWindowsStay) {
  const char* const image = "1, 3, 32, 32";
  const char* const kernel = "8, 3, 16, 16";
  EXPECT_EQ(CountProducts(image, kernel, "strides=[16, 8]"), 0);
  EXPECT_EQ(CountProducts(image, kernel, "strides=[16, 16], pads=[8, 0, 8, 0]"),
            0);
  EXPECT_EQ(CountProducts("1, 3, 32, 31", kernel, "strides=[16, 16]"), 0);
  EXPECT_EQ(CountProducts("1, 3, h, 64", "8, 3, 2, 64", "strides=[2, 64]"), 0);
  EXPECT_EQ(CountProducts("1, 2, 32, 32", "8, 1, 16, 16",
                          "strides=[16, 16], groups=2"),
            0);
  EXPECT_EQ(CountProducts(image, "8, 3, 4, 4", "strides=[4, 4]"), 0);
}

// A transformer's tokens are what the product gives, with the bias added.
TEST(ConvPatchesTest, TokensNeedNoOtherOrder) {
  EXPECT_THAT(OpsAfter(Main(R"((%x: f32[1, 3, 32, 48]) -> (%y) {
    %w = const f32[8, 3, 16, 16] random(1)
    %b = const f32[1, 8, 1, 1] random(2)
    %c = conv2d(%x, %w) {strides=[16, 16]}
    %a = add(%c, %b)
    %r = reshape(%a) {shape=[1, 8, 6]}
    %y = transpose(%r) {axes=[0, 2, 1]}
  })"),
                       {"block_layout", "fold_constants", "simplify"}),
              ElementsAre("reshape", "transpose", "reshape", "matmul", "add",
                          "reshape"));
}

}  // namespace
}  // namespace ingot::relay
