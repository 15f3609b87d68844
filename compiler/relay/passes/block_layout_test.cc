// Operators in blocks of channels.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST(BlockLayoutTest, ChainsStayInBlocks) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[n, 3, 9, 9]) -> (%y) {
    %w0 = const f32[16, 3, 3, 3] random(1)
    %w1 = const f32[16, 1, 3, 3] random(2)
    %w2 = const f32[24, 16, 1, 1] random(3)
    %w3 = const f32[24, 24, 3, 3] random(4)
    %b = const f32[16, 1, 1] random(5)
    %c0 = conv2d(%x, %w0) {strides=[2, 2], pads=[1, 1, 1, 1]}
    %a0 = add(%c0, %b)
    %r0 = relu(%a0)
    %c1 = conv2d(%r0, %w1) {groups=16, pads=[1, 1, 1, 1]}
    %r1 = clip(%c1) {min=0.0, max=6.0}
    %c2 = conv2d(%r1, %w2)
    %c3 = conv2d(%c2, %w3) {pads=[1, 1, 1, 1]}
    %s = add(%c3, %c2)
    %p = max_pool2d(%s) {kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]}
    %g = global_avg_pool2d(%p)
    %y = reshape(%g) {shape=[n, 24]}
  })"),
                                        {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(
      OpsOf(*module->main()),
      ElementsAre("conv2d", "add", "relu", "conv2d", "clip", "conv2d", "conv2d",
                  "add", "max_pool2d", "global_avg_pool2d", "reshape"));
  EXPECT_THAT(Print(*module), HasSubstr("kernel_layout=\"OIHW8o\""));
  EXPECT_THAT(Print(*module), HasSubstr("kernel_layout=\"OIHW8i8o\""));
}

// Few places for many results are copied first, whose number is odd here.
TEST(BlockLayoutTest, PlacesOfStridedPointsAreTakenFirst) {
  const auto ops_of = [](absl::string_view weights, absl::string_view attrs) {
    const auto module = CheckKeepsMeaning(
        Main(absl::StrCat("(%x: f32[2, 16, 7, 8]) -> (%y) {\n"
                          "    %w = const f32[",
                          weights, "] random(1)\n", "    %y = conv2d(%x, %w) {",
                          attrs, "}\n  }")),
        {"block_layout", "simplify"});
    return module == nullptr ? std::vector<std::string>()
                             : OpsOf(*module->main());
  };
  const auto copied =
      ElementsAre("layout_transform", "slice", "conv2d", "layout_transform");
  const auto direct =
      ElementsAre("layout_transform", "conv2d", "layout_transform");
  EXPECT_THAT(ops_of("64, 16, 1, 1", "strides=[2, 3]"), copied);
  EXPECT_THAT(ops_of("64, 16, 1, 1", ""), direct);
  EXPECT_THAT(ops_of("32, 16, 1, 1", "strides=[2, 2]"), direct);
  EXPECT_THAT(ops_of("64, 16, 1, 1", "strides=[2, 2], pads=[0, 0, 1, 1]"),
              direct);
  EXPECT_THAT(ops_of("64, 16, 1, 2", "strides=[2, 2]"), direct);
}

// The nodes of `text` by the device.
std::string OnDevice(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"{}", "{target=\"gpu\"}"}, {"{+", "{target=\"gpu\", "}});
}

TEST(BlockLayoutTest, DevicesHaveAllChannelsInOneBlock) {
  const auto module =
      CheckKeepsMeaning(OnDevice(Main(R"((%x: f32[2, 3, 9, 9]) -> (%y, %d) {
    %w0 = const f32[16, 3, 3, 3] random(1)
    %w1 = const f32[16, 1, 3, 3] random(2)
    %w2 = const f32[24, 16, 1, 1] random(3)
    %w3 = const f32[40, 24, 3, 3] random(4)
    %b = const f32[16, 1, 1] random(5)
    %c0 = conv2d(%x, %w0) {+strides=[2, 2], pads=[1, 1, 1, 1]}
    %a0 = add(%c0, %b) {}
    %c1 = conv2d(%a0, %w1) {+groups=16, pads=[1, 1, 1, 1]}
    %c2 = conv2d(%c1, %w2) {}
    %c3 = conv2d(%c2, %w3) {+pads=[1, 1, 1, 1]}
    %j = concat(%c3, %c2) {+axis=1}
    %p = max_pool2d(%j) {+kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]}
    %s = slice(%p) {+axes=[1, 2], starts=[3, 1], ends=[50, 3]}
    %r = relu(%s) {}
    %g = global_avg_pool2d(%r) {}
    %y = reshape(%g) {shape=[2, 47]}
    %d = depth_to_space(%c3) {+blocks=[2, 2], mode="DCR"}
  })")),
                        {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  // The device does the rest on plain data.
  EXPECT_THAT(OpsOf(*module->main()),
              UnorderedElementsAre("conv2d", "add", "conv2d", "matmul",
                                   "conv2d", "concat", "max_pool2d", "slice",
                                   "relu", "global_avg_pool2d", "reshape",
                                   "layout_transform", "depth_to_space"));
  const std::string text = Print(*module);
  EXPECT_THAT(text, HasSubstr("kernel_layout=\"OIHW16o\""));
  EXPECT_THAT(text, HasSubstr("data_layout=\"NCHW24c\", "
                              "kernel_layout=\"OIHW24i40o\""));
  EXPECT_THAT(text, HasSubstr("{axis=4, target=\"gpu\"} "
                              ": f32[2, 1, 5, 5, 64]"));
  for (const auto& node : module->main()->nodes()) {
    if (node->kind != NodeKind::kOp || node->IsView()) continue;
    EXPECT_EQ(TargetOf(node->attrs), "gpu") << node->name;
  }
}

// A block of ConvNeXt, and what ViT does with its patches: exporters put
// channels last for norms and products, where they are already.
TEST(BlockLayoutTest, ChannelsLastAreViewsOfOneBlock) {
  const auto module =
      CheckKeepsMeaning(OnDevice(Main(R"((%x: f32[2, 8, 6, 6]) -> (%y, %z) {
    %w0 = const f32[16, 8, 2, 2] random(1)
    %w1 = const f32[16, 1, 3, 3] random(2)
    %g = const f32[16] random(3)
    %w2 = const f32[16, 24] random(4)
    %w3 = const f32[24, 16] random(5)
    %c0 = conv2d(%x, %w0) {+strides=[2, 2]}
    %c1 = conv2d(%c0, %w1) {+groups=16, pads=[1, 1, 1, 1]}
    %t1 = transpose(%c1) {+axes=[0, 2, 3, 1]}
    %n = layer_norm(%t1, %g) {+axis=-1}
    %m0 = matmul(%n, %w2) {}
    %r = relu(%m0) {}
    %m1 = matmul(%r, %w3) {}
    %t2 = transpose(%m1) {+axes=[0, 3, 1, 2]}
    %a = add(%c0, %t2) {}
    %y = max_pool2d(%a) {+kernel=[3, 3]}
    %p = reshape(%a) {shape=[2, 16, 9]}
    %z = transpose(%p) {+axes=[0, 2, 1]}
  })")),
                        {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module->main(), "transpose"), 0);
  // The model's input, and no more.
  EXPECT_EQ(CountOps(*module->main(), "layout_transform"), 1);
}

// Channels that do not come 8 at a time, groups of them, and more than a block
// may have stay as they are.
TEST(BlockLayoutTest, DevicesHaveWholeCopiesInBlocks) {
  const auto module =
      CheckKeepsMeaning(OnDevice(Main(R"((%x: f32[1, 16, 5, 5]) -> (%y) {
    %w0 = const f32[12, 16, 3, 3] random(1)
    %w1 = const f32[16, 3, 1, 1] random(2)
    %c0 = conv2d(%x, %w0) {+pads=[1, 1, 1, 1]}
    %y = conv2d(%c0, %w1) {+groups=4}
  })")),
                        {"block_layout"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(OpsOf(*module->main()), ElementsAre("conv2d", "conv2d"));
  EXPECT_THAT(Print(*module), Not(HasSubstr("_layout=")));
}

// The host and a device each have blocks of their own.
TEST(BlockLayoutTest, TargetsReadPlainDataOfOthers) {
  const auto module =
      CheckKeepsMeaning(OnDevice(Main(R"((%x: f32[1, 16, 5, 5]) -> (%y) {
    %w0 = const f32[16, 16, 3, 3] random(1)
    %w1 = const f32[16, 16, 3, 3] random(2)
    %c0 = conv2d(%x, %w0)
    %r0 = relu(%c0)
    %y = conv2d(%r0, %w1) {}
  })")),
                        {"block_layout"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(
      OpsOf(*module->main()),
      ElementsAre("layout_transform", "winograd_conv2d", "relu",
                  "layout_transform", "layout_transform", "conv2d", "reshape"));
}

// A convolution of 35 channels of numbers of 16 bits after block_layout, where
// processors multiply words of two of them.
std::string ConvOfHalves(absl::string_view data,
                         absl::string_view extents = "8, 8") {
  const auto module = ParseForTest(Main(absl::Substitute(
      "(%x: i8[1, 35, $1], %z: i8[], %h: i16[1, 35, $1]) -> (%y) { "
      "%w = const i16[48, 35, 3, 3] random(1) $0 "
      "%y = conv2d(%d, %w) {out_dtype=i32, pads=[1, 1, 1, 1]} }",
      data, extents)));
  if (module == nullptr) return "";
  PassContext context = TestContext();
  context.layouts.wide_words = true;
  const absl::Status status =
      RunPasses({"block_layout", "eliminate_dead"}, module.get(), &context);
  EXPECT_TRUE(status.ok()) << status;
  return Print(*module);
}

TEST(BlockLayoutTest, BytesGoByTilesAsWholeNumbers) {
  constexpr char kByTiles[] =
      "winograd_conv2d(%d_blocked, %w) {pads=[1, 1, 1, 1], tile=4} : "
      "i32[1, 6, 8, 8, 8]";
  for (const char* data :
       {"%d = cast(%x) {dtype=i16}",
        "%a = cast(%x) {dtype=i16} %c = const i16[] {-9} %d = sub(%a, %c)",
        "%a = cast(%x) {dtype=i16} %b = cast(%z) {dtype=i16} "
        "%d = sub(%a, %b)"}) {
    EXPECT_THAT(ConvOfHalves(data), HasSubstr(kByTiles)) << data;
    EXPECT_THAT(ConvOfHalves(data), HasSubstr("i32[6, 6, 6, 9, 2, 8]"));
    EXPECT_THAT(ConvOfHalves(data, "rows, 8"), HasSubstr("winograd_conv2d"));
  }
  // These may be too large.
  for (const char* data : {"%d = abs(%h)", "%d = sub(%h, %h)",
                           "%a = cast(%x) {dtype=i16} %d = sub(%a, %h)",
                           "%a = cast(%x) {dtype=i16} %c = const i16[] {9000} "
                           "%d = sub(%a, %c)"}) {
    EXPECT_THAT(ConvOfHalves(data), Not(HasSubstr("winograd"))) << data;
  }
}

// Every second column and third row is an image of its own, of 10 by 12
// results, of which the last row of some is not there.
TEST(BlockLayoutTest, DilatedConvolutionsGoByTilesOfGrids) {
  const auto module =
      CheckKeepsMeaning(Main(R"((%x: f32[2, 16, 30, 23]) -> (%y) {
    %w = const f32[24, 16, 3, 3] random(1)
    %c = conv2d(%x, %w) {dilations=[3, 2], pads=[4, 2, 1, 3]}
    %y = relu(%c)
  })"),
                        {"block_layout"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "conv2d"), 0);
  EXPECT_THAT(Print(*module), HasSubstr("winograd_conv2d"));
  EXPECT_THAT(Print(*module), HasSubstr(": f32[12, 3, 10, 12, 8]"));
}

// Images of one place for each grid would be nothing but padding of tiles.
TEST(BlockLayoutTest, WideDilationsStayAsTheyAre) {
  const auto module =
      CheckKeepsMeaning(Main(R"((%x: f32[1, 16, 16, 16]) -> (%y) {
    %w = const f32[24, 16, 3, 3] random(1)
    %y = conv2d(%x, %w) {dilations=[12, 12], pads=[12, 12, 12, 12]}
  })"),
                        {"block_layout"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "conv2d"), 1);
}

// The logarithm of what fills up a block is -inf, which the convolution after
// it does not read: it takes four channels at a time, three times.
TEST(BlockLayoutTest, FillsUpOddChannels) {
  const auto module =
      CheckKeepsMeaning(Main(R"((%x: f32[1, 10, 5, 5]) -> (%y, %z) {
    %w0 = const f32[12, 10, 3, 3] random(1)
    %w1 = const f32[12, 1, 3, 3] random(2)
    %w2 = const f32[5, 12, 1, 1] random(3)
    %c0 = conv2d(%x, %w0)
    %s = sigmoid(%c0)
    %c1 = conv2d(%s, %w1) {groups=12, pads=[1, 1, 1, 1]}
    %l = log(%s)
    %m = add(%c1, %l)
    %y = conv2d(%m, %w2)
    %z = softmax(%s) {axis=1}
  })"),
                        {"block_layout"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Print(*module), HasSubstr("log(%s) : f32[1, 2"));
  EXPECT_THAT(Print(*module), HasSubstr("OIHW4i8o"));
  EXPECT_EQ(CountOps(*module, "conv2d"), 3);
}

// Nothing but the plain result needs the exponentials, of ten channels and not
// of the six more that fill up the last block. What is cheap stays with the
// convolution.
TEST(BlockLayoutTest, ComputesLastResultsWithoutFilling) {
  const auto result_of = [](int channels) {
    const auto module = CheckKeepsMeaning(
        Main(absl::StrCat(
            "(%x: f32[1, 16, 5, 5]) -> (%y) {\n    %w = const f32[", channels,
            R"(, 16, 1, 1] random(1)
    %c = conv2d(%x, %w)
    %r = relu(%c)
    %e = exp(%r)
    %y = neg(%e)
  })")),
        {"block_layout"});
    return module == nullptr ? "" : Print(*module);
  };
  EXPECT_THAT(result_of(10), HasSubstr("relu(%c) : f32[1, 2, 5, 5, 8]"));
  EXPECT_THAT(result_of(10),
              ContainsRegex("exp[(][^)]*[)] : f32.1, 10, 5, 5."));
  EXPECT_THAT(result_of(16), HasSubstr("exp(%r) : f32[1, 2, 5, 5, 8]"));
}

TEST(BlockLayoutTest, JoinsLastResultsInBlocks) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[1, 16, 5, 5]) -> (%y) {
    %v = const f32[10, 16, 1, 1] random(1)
    %w = const f32[10, 16, 1, 1] random(2)
    %a = conv2d(%x, %v)
    %b = conv2d(%x, %w)
    %e = exp(%a)
    %y = add(%e, %b)
  })"),
                                        {"block_layout"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Print(*module), HasSubstr("exp(%a) : f32[1, 2, 5, 5, 8]"));
}

TEST(BlockLayoutTest, OperandsOfAllShapes) {
  const auto module =
      CheckKeepsMeaning(Main(R"((%x: f32[2, 8, 4, 4], %v: f32[2, 8, 4, 4],
                                %r: f32[4], %one: f32[1, 1, 4, 4]) -> (%y) {
    %w = const f32[16, 8, 1, 1] random(1)
    %k = const f32[8, 8, 1, 1] random(2)
    %slope = const f32[8, 1, 1] random(3)
    %scale = const f32[1, 8, 1, 1] random(4)
    %num = const f32[] {0.5}
    %c = conv2d(%x, %k)
    %a = prelu(%c, %slope)
    %b = mul(%scale, %a)
    %d = add(%b, %v)
    %e = mul(%d, %r)
    %f = sub(%e, %one)
    %g = mul(%f, %num)
    %pool = global_avg_pool2d(%g)
    %se = conv2d(%pool, %k)
    %gate = sigmoid(%se)
    %gated = mul(%gate, %g)
    %cat = concat(%gated, %c, %v) {axis=1}
    %cut = slice(%cat) {axes=[1, 2], starts=[8, 1], ends=[24, 4]}
    %pad = pad(%cut) {pads=[0, 0, 1, 0, 0, 0, 0, 1]}
    %up = resize(%pad) {sizes=[2, 16, 8, 10], mode="nearest"}
    %t = transpose(%w) {axes=[1, 0, 2, 3]}
    %y = conv2d(%up, %t)
  })"),
                        {"fold_constants", "block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  // x, v, and y again.
  EXPECT_EQ(CountOps(*module, "layout_transform"), 3);
}

// Sums are rounded once, as those of the convolution are, and what follows has
// the element type that it had.
TEST(BlockLayoutTest, SumsOf16BitFloatsAreOfF32) {
  for (const char* type : {"f16", "bf16"}) {
    const auto module = CheckKeepsMeaning(
        Main(absl::StrReplaceAll(
            R"((%x: T[1, 8, 6, 6], %v: T[2, 8, 3]) -> (%z, %u) {
    %w = const T[16, 8, 3, 3] random(1)
    %k = const T[4, 4, 1] random(2)
    %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
    %y = add(%c, %c)
    %z = relu(%y)
    %u = conv1d(%v, %k) {groups=2}
  })",
            {{"T", type}})),
        {"block_layout", "fold_constants", "simplify"}, 2e-2);
    ASSERT_NE(module, nullptr);
    for (const auto& node : module->main()->nodes()) {
      if (node->Is("conv2d")) {
        EXPECT_EQ(node->outputs[0].dtype, DataType::Float(32));
        EXPECT_EQ(node->inputs[1].node->kind, NodeKind::kConstant);
      }
      if (node->Is("add")) {
        EXPECT_EQ(node->outputs[0].dtype.bits, 16);
      }
    }
  }
}

TEST(BlockLayoutTest, OneDimension) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[1, 8, 11]) -> (%y) {
    %w = const f32[8, 8, 3] random(1)
    %b = const f32[8, 1] random(2)
    %c = conv1d(%x, %w) {pads=[1, 1]}
    %a = add(%c, %b)
    %r = relu(%a)
    %d = conv1d(%r, %w) {dilations=[2]}
    %p = max_pool1d(%d) {kernel=[2], strides=[2]}
    %e = mul(%p, %b)
    %y = concat(%e, %e) {axis=2}
  })"),
                                        {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "layout_transform"), 2);
  EXPECT_EQ(CountOps(*module, "conv1d"), 0);
}

// Channels that would fill up a block are not multiplied.
// A maximum over time follows a convolution in its blocks.
TEST(BlockLayoutTest, ReductionsOfSignals) {
  for (const char* op : {"reduce_max", "reduce_mean"}) {
    const auto module =
        CheckKeepsMeaning(Main(absl::Substitute(R"((%x: f32[n, 3, 9]) -> (%y) {
    %w = const f32[16, 3, 3] random(1)
    %b = const f32[16, 1] random(2)
    %c = conv1d(%x, %w)
    %a = add(%b, %c)
    %r = relu(%a)
    %y = $0(%r) {axes=[2], keepdims=0}
  })",
                                                op)),
                          {"block_layout", "simplify"});
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(CountOps(*module, "layout_transform"), 0) << Print(*module);
    EXPECT_EQ(CountOps(*module, op), 0);
  }
}

TEST(BlockLayoutTest, GroupsByWholeBlocksOnly) {
  EXPECT_THAT(OpsAfter(Main(R"((%x: f32[1, 16, 4, 4]) -> (%y) {
    %w = const f32[16, 4, 3, 3] random(1)
    %y = conv2d(%x, %w) {groups=4}
  })"),
                       {"block_layout"}),
              ElementsAre("conv2d"));
  EXPECT_THAT(OpsAfter(Main(R"((%x: f32[1, 16, 4, 4]) -> (%y) {
    %w = const f32[16, 8, 3, 3] random(1)
    %y = conv2d(%x, %w) {groups=2}
  })"),
                       {"block_layout"}),
              ElementsAre("layout_transform", "conv2d", "layout_transform"));
}

TEST(BlockLayoutTest, CutsInABlock) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[1, 8, 4, 4]) -> (%y) {
    %w = const f32[16, 8, 1, 1] random(1)
    %v = const f32[8, 12, 1, 1] random(2)
    %c = conv2d(%x, %w)
    %e = exp(%c)
    %s = slice(%e) {axes=[1], starts=[0], ends=[12]}
    %y = conv2d(%s, %v)
  })"),
                                        {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "layout_transform"), 2);
}

TEST(BlockLayoutTest, CutsWholeNumbersInABlock) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[1, 8, 4, 4]) -> (%y) {
    %w = const f32[16, 8, 1, 1] random(1)
    %v = const f32[8, 12, 1, 1] random(2)
    %one = const f32[1] fill(1)
    %c = conv2d(%x, %w)
    %q = quantize(%c, %one) {dtype=u8}
    %s = slice(%q) {axes=[1], starts=[0], ends=[12]}
    %d = dequantize(%s, %one)
    %y = conv2d(%d, %v)
  })"),
                                        {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "layout_transform"), 2);
}

}  // namespace
}  // namespace ingot::relay
