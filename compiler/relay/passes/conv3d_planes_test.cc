// Convolutions of volumes, as those of planes that block_layout makes of them.
#include "absl/strings/str_cat.h"
#include "compiler/relay/passes/test_support.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

// The planes that a kernel covers are channels of one convolution, strides,
// steps and padding of every side among them; a kernel of one plane in groups
// needs no copies, one of points no other order.
TEST(Conv3dPlanesTest, ThreeDimensions) {
  const struct {
    const char* kernel;
    const char* attrs;
    const char* shape;
    int transposes, concats;
  } kCases[] = {
      {"16, 8, 3, 3, 3", "pads=[1, 1, 1, 1, 1, 1]", "2, 8, 6, 5, 4", 2, 1},
      {"16, 8, 3, 2, 3",
       "strides=[2, 1, 2], dilations=[2, 1, 1], pads=[1, 0, 2, 3, 1, 0]",
       "n, 8, 9, 5, 4", 2, 1},
      {"16, 4, 1, 3, 3", "groups=2, pads=[0, 1, 1, 0, 1, 1]", "1, 8, 6, 5, 4",
       2, 0},
      {"16, 8, 3, 3, 3", "pads=[1, 1, 1, 1, 1, 1]", "n, 8, d, h, w", 2, 1},
      {"16, 8, 2, 3, 2", "dilations=[3, 1, 1], pads=[0, 1, 0, 5, 0, 1]",
       "n, 8, d, 5, 4", 2, 1},
      {"16, 4, 1, 3, 3", "groups=2, pads=[0, 1, 1, 0, 1, 1]", "1, 8, d, h, 4",
       2, 0},
      {"16, 8, 1, 1, 1", "strides=[2, 2, 2]", "1, 8, 6, 5, 4", 2, 0},
      {"16, 8, 3, 1, 1", "strides=[2, 1, 1], pads=[1, 0, 0, 1, 0, 0]",
       "n, 8, d, 5, 4", 0, 0},
      {"8, 1, 5, 1, 1", "groups=8, pads=[2, 0, 0, 2, 0, 0]", "1, 8, 6, 5, 4", 0,
       0},
  };
  for (const auto& c : kCases) {
    const auto module = CheckKeepsMeaning(
        Main(absl::StrCat("(%x: f32[", c.shape, "]) -> (%y) {\n    %w = const ",
                          "f32[", c.kernel, "] random(1)\n    %y = ",
                          "conv3d(%x, %w) {", c.attrs, "}\n  }")),
        {"block_layout", "fold_constants", "simplify"});
    ASSERT_NE(module, nullptr) << c.kernel;
    EXPECT_EQ(CountOps(*module, "conv3d"), 0) << c.kernel;
    EXPECT_EQ(
        CountOps(*module, "conv2d") + CountOps(*module, "winograd_conv2d"), 1)
        << c.kernel;
    EXPECT_EQ(CountOps(*module, "transpose"), c.transposes) << c.kernel;
    EXPECT_EQ(CountOps(*module, "concat"), c.concats) << c.kernel;
  }
}

// Element-wise operators between convolutions along the depth are computed
// where these are, in blocks; what else reads a volume has it as it was.
TEST(Conv3dPlanesTest, ElementwiseBetweenConvolutionsAlongTheDepth) {
  const auto module = CheckKeepsMeaning(
      Main(R"((%x: f32[n, 8, 6, 5, 4], %v: f32[n, 16, 6, 5, 4]) -> (%y, %m) {
    %w = const f32[16, 8, 3, 1, 1] random(1)
    %u = const f32[8, 16, 1, 1, 1] random(2)
    %b = const f32[1, 16, 1, 1, 1] random(3)
    %l = const f32[] fill(0.25)
    %c = conv3d(%x, %w) {pads=[1, 0, 0, 1, 0, 0]}
    %a = add(%c, %b)
    %s = add(%v, %a)
    %t = mul(%s, %l)
    %r = relu(%t)
    %y = conv3d(%r, %u)
    %m = max_pool3d(%r) {kernel=[2, 2, 2]}
  })"),
      {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "conv2d"), 2);
  EXPECT_EQ(CountOps(*module, "layout_transform"), 4);
}

// Groups whose kernels cover several planes, and depths that only a run knows
// where too little padding, or a stride, makes slices depend on it.
TEST(Conv3dPlanesTest, VolumesThatStay) {
  for (const char* body :
       {"(%x: f32[1, 8, 6, 5, 4]) -> (%y) { %w = const f32[8, 1, 3, 3, 3] "
        "random(1) %y = conv3d(%x, %w) {groups=8} }",
        "(%x: f32[1, 8, d, 5, 4]) -> (%y) { %w = const f32[8, 8, 3, 3, 3] "
        "random(1) %y = conv3d(%x, %w) {pads=[1, 1, 1, 0, 1, 1]} }",
        "(%x: f32[1, 8, d, 5, 4]) -> (%y) { %w = const f32[8, 8, 3, 3, 3] "
        "random(1) %y = conv3d(%x, %w) {strides=[2, 2, 2], "
        "pads=[1, 1, 1, 1, 1, 1]} }"}) {
    const auto module = CheckKeepsMeaning(Main(body), {"block_layout"});
    ASSERT_NE(module, nullptr) << body;
    EXPECT_EQ(CountOps(*module, "conv3d"), 1) << body;
  }
}

}  // namespace
}  // namespace ingot::relay
