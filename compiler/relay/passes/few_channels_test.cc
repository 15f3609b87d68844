// Convolutions of fewer channels than fill a block, or than fill another.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FewChannelsTest, ThoseBeyondABlockArePlain) {
  const auto transforms = [](const char* channels, const char* window) {
    const auto module = CheckKeepsMeaning(
        Main(absl::StrCat("(%x: f32[1, ", channels, ", 7, 6]) -> (%y) {",
                          " %w = const f32[8, ", channels, ", ", window,
                          "] random(1) %y = conv2d(%x, %w) }")),
        {"block_layout"});
    return module == nullptr ? -1 : CountOps(*module, "layout_transform");
  };
  EXPECT_EQ(transforms("9", "2, 3"), 1);  // of the result alone
  EXPECT_EQ(transforms("12", "2, 3"), 1);
  EXPECT_EQ(transforms("14", "2, 3"), 2);
  EXPECT_EQ(transforms("9", "1, 1"), 2);
}

// Vectors of columns hold more than blocks of few channels, where there are
// enough columns.
TEST(FewChannelsTest, ThoseOfWidePlanesArePlain) {
  const auto text_of = [](absl::string_view plane, int out, int groups) {
    const auto module = CheckKeepsMeaning(
        Main(absl::StrCat("(%x: f32[1, 3, ", plane, "]) -> (%y) {\n",
                          "    %w = const f32[", out, ", ", 3 / groups,
                          ", 3, 3] random(1)\n    %y = conv2d(%x, %w) {groups=",
                          groups, ", pads=[1, 1, 1, 1]}\n  }")),
        {"block_layout", "simplify"});
    return module == nullptr ? "" : Print(*module);
  };
  const auto plain = Not(HasSubstr("kernel_layout"));
  const auto blocked = HasSubstr("kernel_layout");
  EXPECT_THAT(text_of("4, 16", 3, 1), plain);
  EXPECT_THAT(text_of("4, 16", 3, 3), plain);
  EXPECT_THAT(text_of("h, w", 4, 1), plain);
  EXPECT_THAT(text_of("4, 16", 5, 1), blocked);
  EXPECT_THAT(text_of("4, 3", 3, 1), blocked);
  EXPECT_THAT(text_of("4, 3", 3, 3), blocked);
}

// Then blocks before them become plain, where taps are worth it.
TEST(FewChannelsTest, ResultsOfBlocksArePlain) {
  const auto blocked = [](absl::string_view kernel, int pad,
                          absl::string_view plane) {
    const auto module = CheckKeepsMeaning(
        Main(absl::Substitute(R"((%x: f32[1, 16, $2]) -> (%y) {
    %v = const f32[16, 16, 1, 1] random(1)
    %w = const f32[$0] random(2)
    %c = conv2d(%x, %v)
    %y = conv2d(%c, %w) {pads=[$1, $1, $1, $1]}
  })",
                              kernel, pad, plane)),
        {"block_layout", "simplify"});
    int count = 0;
    for (const auto& node : module->main()->nodes()) {
      if (node->Is("conv2d") &&
          node->attrs.Get<std::string>("data_layout") != "NCHW") {
        ++count;
      }
    }
    return count;
  };
  EXPECT_EQ(blocked("1, 16, 2, 2", 1, "4, 16"), 1);
  EXPECT_EQ(blocked("4, 16, 2, 2", 1, "4, 16"), 2);
  EXPECT_EQ(blocked("2, 16, 1, 1", 0, "4, 16"), 2);
  // Rows may be short, or stand for a signal.
  EXPECT_EQ(blocked("1, 16, 2, 2", 1, "h, w"), 2);
  EXPECT_EQ(blocked("1, 16, 1, 3", 0, "1, 16"), 2);
}

// One channel after a block multiplies its taps only.
TEST(FewChannelsTest, OneChannelInABlockIsDepthwise) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[n, 16, h, w]) -> (%y) {
    %w0 = const f32[16, 16, 1, 1] random(1)
    %w1 = const f32[1, 16, 1, 1] random(2)
    %w2 = const f32[1, 1, 3, 3] random(3)
    %c0 = conv2d(%x, %w0)
    %c1 = conv2d(%c0, %w1)
    %y = conv2d(%c1, %w2) {pads=[1, 1, 1, 1]}
  })"),
                                        {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Print(*module), HasSubstr("kernel_layout=\"OIHW8o\""));
}

}  // namespace
}  // namespace ingot::relay
