// Bytes go to whoever multiplies them: which moves of dequantised values become
// moves of bytes, and that all of them mean the same.
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What byte_products and simplify make of a function.
std::string Simplified(absl::string_view body) {
  const auto module =
      CheckKeepsMeaning(absl::StrCat("module { func @main", body, " }"),
                        {"byte_products", "simplify", "eliminate_dead"}, 1e-5);
  return module == nullptr ? "(failed)" : Print(*module);
}

// A convolution along time as a frontend makes it of a causal layer.
std::string CausalLayer(int pad_value) {
  return Simplified(absl::StrCat(R"((%x: f32[1, 4, 9]) -> (%y) {
    %s = const f32[] {0.5}
    %z = const u8[] {122}
    %q = quantize(%x, %s, %z) {dtype=u8}
    %d = dequantize(%q, %s, %z)
    %p = pad(%d) {pads=[0, 0, 2, 0, 0, 0], value=)",
                                 pad_value, R"(.0}
    %pq = quantize(%p, %s, %z) {dtype=u8}
    %pd = dequantize(%pq, %s, %z)
    %w = const i8[3, 4, 2] {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6}
    %ws = const f32[3] {0.5, 0.25, 0.125}
    %wd = dequantize(%w, %ws) {axis=0}
    %x2 = reshape(%pd) {shape=[1, 4, 1, 11]}
    %w2 = reshape(%wd) {shape=[3, 4, 1, 2]}
    %y = conv2d(%x2, %w2) {dilations=[1, 2]}
  })"));
}

TEST(QuantizedMovesTest, ConvolutionsAlongTimeMultiplyBytes) {
  const std::string text = CausalLayer(0);
  EXPECT_THAT(text, HasSubstr("out_dtype=i32"));
  EXPECT_THAT(text, HasSubstr("pad_value=122"));
  EXPECT_THAT(text, Not(HasSubstr("dequantize(")));
  EXPECT_THAT(text, Not(HasSubstr("= pad(")));
}

// Whoever reads times and placements by the model's nodes finds each.
TEST(QuantizedMovesTest, WhatMovesKeepsTheNamesOfTheModel) {
  const std::string text = Simplified(R"((%x: i8[1, 2, 4, 4]) -> (%y) {
    %s = const f32[] {0.5}
    %z = const i8[] {3}
    %d = dequantize(%x, %s, %z) from "dequantize"
    %p = max_pool2d(%d) {kernel=[2, 2], strides=[2, 2]} from "pool"
    %y = quantize(%p, %s, %z) {dtype=i8} from "quantize"
  })");
  EXPECT_THAT(text, HasSubstr("= max_pool2d(%x) {"));
  EXPECT_THAT(text, HasSubstr("from \"pool\", \"quantize\""));
}

TEST(QuantizedMovesTest, PaddingThatIsNotZeroStays) {
  const std::string text = CausalLayer(1);
  EXPECT_THAT(text, HasSubstr("= pad(%d"));
  EXPECT_THAT(text, HasSubstr("out_dtype=i32"));
}

TEST(QuantizedMovesTest, SlicesTransposesAndViews) {
  const std::string text = Simplified(R"((%x: u8[4, 6]) -> (%a, %b, %c) {
    %s = const f32[] {0.5}
    %d = dequantize(%x, %s)
    %a = slice(%d) {starts=[1], ends=[3], axes=[1]}
    %b = transpose(%d) {axes=[1, 0]}
    %c = reshape(%d) {shape=[3, 8]}
  })");
  EXPECT_THAT(text, HasSubstr("slice(%x)"));
  EXPECT_THAT(text, HasSubstr("transpose(%x)"));
  EXPECT_THAT(text, HasSubstr("reshape(%x)"));
}

// The operands of a move that give its symbols move along.
TEST(QuantizedMovesTest, SlicesAndViewsByWhatARunTells) {
  const auto module =
      ParseForTest(Main(R"_((%x: u8[4, 6], %n: i64[1]) -> (%a, %b) {
    %s = const f32[] {0.5}
    %d = dequantize(%x, %s)
    %dims = bind_dims(%n) {symbols=["?n"]}
    %a = slice(%d, %dims) {starts=[0], ends=["min(?n, 6)"], axes=[1]}
    %b = reshape(%d, %dims) {shape=["?n", "24 / ?n"]}
  })_"));
  ASSERT_TRUE(RunForTest({"byte_products", "eliminate_dead"}, module.get()));
  const std::string text = Print(*module);
  EXPECT_THAT(text, HasSubstr("slice(%x, %dims)"));
  EXPECT_THAT(text, HasSubstr("reshape(%x, %dims)"));
}

TEST(QuantizedMovesTest, ScalesStayWithTheirChannels) {
  const std::string text = Simplified(R"((%x: i8[2, 3, 4]) -> (%a, %b, %c) {
    %s = const f32[3] {0.5, 0.25, 0.125}
    %d = dequantize(%x, %s) {axis=-2}
    %a = reshape(%d) {shape=[2, 1, 3, 2, 2]}
    %b = reshape(%d) {shape=[6, 4]}
    %c = transpose(%d) {axes=[0, 2, 1]}
  })");
  EXPECT_THAT(text, HasSubstr("= dequantize(%a_1, %s) {axis=2}"));
  EXPECT_THAT(text, HasSubstr("%b = reshape(%d)"));
  EXPECT_THAT(text, HasSubstr("%c = transpose(%d)"));
}

TEST(QuantizedMovesTest, PartsBecomeBytesBeforeTheyAreJoined) {
  const std::string text = Simplified(R"((%x: u8[1, 4], %y: f32[1, 2]) -> (%q) {
    %s = const f32[] {0.25}
    %z = const u8[] {9}
    %d = dequantize(%x, %s, %z)
    %c = concat(%d, %y) {axis=1}
    %q = quantize(%c, %s, %z) {dtype=u8}
  })");
  EXPECT_THAT(text, HasSubstr("concat(%x, "));
  EXPECT_THAT(text, Not(HasSubstr("dequantize")));
}

TEST(QuantizedMovesTest, ConcatsWithOtherReadersStay) {
  EXPECT_THAT(Simplified(R"((%x: f32[1, 4], %y: f32[1, 2]) -> (%c, %q) {
    %s = const f32[] {0.25}
    %c = concat(%x, %y) {axis=1}
    %q = quantize(%c, %s) {dtype=u8}
  })"),
              HasSubstr("quantize(%c"));
}

TEST(QuantizedMovesTest, ImagesAreEnlargedAsBytes) {
  const auto resize = [](const char* attributes) {
    return Simplified(absl::StrCat(R"((%x: u8[1, 3, 2, 2]) -> (%y) {
      %s = const f32[] {0.25}
      %z = const u8[] {9}
      %d = dequantize(%x, %s, %z)
      %r = resize(%d) {sizes=[1, 3, 4, 5], )",
                                   attributes, R"(}
      %y = quantize(%r, %s, %z) {dtype=u8}
    })"));
  };
  EXPECT_THAT(resize("mode=\"nearest\""), HasSubstr("resize(%x)"));
  EXPECT_THAT(resize("mode=\"nearest\""), Not(HasSubstr("quantize(")));
  EXPECT_THAT(resize("mode=\"linear\""), HasSubstr("resize(%d)"));
}

TEST(QuantizedMovesTest, PositionsInterleaveAsBytes) {
  const std::string text = Simplified(R"((%x: f32[1, 8, 2, 3]) -> (%q) {
    %s = const f32[] {0.25}
    %i = depth_to_space(%x) {blocks=[2, 2]}
    %c = slice(%i) {axes=[1], starts=[0], ends=[1]}
    %q = quantize(%c, %s) {dtype=u8}
  })");
  EXPECT_THAT(text, HasSubstr("quantize(%x, "));
  EXPECT_THAT(text, HasSubstr("u8[1, 2, 4, 6]"));
}

// A layer whose data, rounded to i8, a residual reads, too.
std::string SignedLayer(absl::string_view outputs) {
  return Simplified(
      absl::StrCat(R"((%x: f32[1, 4, 5, 5]) -> ()", outputs, R"() {
    %s = const f32[] {0.05}
    %z = const i8[] {-3}
    %q = quantize(%x, %s, %z) {dtype=i8}
    %d = dequantize(%q, %s, %z)
    %w = const i8[4, 4, 1, 1] {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7}
    %v = const f32[] {0.5}
    %wd = dequantize(%w, %v)
    %c = conv2d(%d, %wd) {pads=[1, 1, 1, 1], strides=[2, 2]}
    %y = reduce_sum(%d)
  })"));
}

TEST(QuantizedMovesTest, SignedBytesAreUnsignedWhereTheyAreMade) {
  const std::string text = SignedLayer("%c, %y");
  EXPECT_THAT(text, HasSubstr("dtype=u8"));
  EXPECT_THAT(text, HasSubstr("pad_value=125"));
  EXPECT_THAT(text, Not(HasSubstr("dtype=i8")));
  EXPECT_THAT(text, Not(HasSubstr("{dtype=i32}")));
}

TEST(QuantizedMovesTest, SignedBytesThatSomebodyElseReadsStay) {
  EXPECT_THAT(SignedLayer("%c, %q"), HasSubstr("dtype=i8"));
}

// A pool of dequantised bytes.
std::string Pool(absl::string_view scale, absl::string_view attributes) {
  return Simplified(absl::StrCat(R"((%x: u8[1, 2, 5, 5]) -> (%y) {
    %s = const f32[] {)",
                                 scale, R"(}
    %z = const u8[] {200}
    %d = dequantize(%x, %s, %z)
    %y = max_pool2d(%d) {kernel=[2, 2], )",
                                 attributes, R"(}
  })"));
}

TEST(QuantizedMovesTest, TheGreatestValueIsTheGreatestByte) {
  const char* const same = "max_pool2d(%x)";
  EXPECT_THAT(Pool("0.3", "strides=[2, 2]"), HasSubstr(same));
  EXPECT_THAT(Pool("0.3", "pads=[1, 1, 1, 1]"), HasSubstr(same));
  EXPECT_THAT(Pool("-0.3", "strides=[2, 2]"), Not(HasSubstr(same)));
  EXPECT_THAT(Pool("0.3", "strides=[2, 2], ceil_mode=1"), HasSubstr(same));
  EXPECT_THAT(Pool("0.3", "dilations=[2, 2], pads=[1, 1, 1, 1]"),
              Not(HasSubstr(same)));
}

// `quantize` of what was dequantised by another scale.
std::string QuantisedAgain(absl::string_view first, absl::string_view second) {
  return Simplified(absl::StrCat(R"((%x: u8[4, 6]) -> (%y) {
    %s = const f32[] {)",
                                 first, R"(}
    %t = const f32[] {)",
                                 second, R"(}
    %d = dequantize(%x, %s)
    %y = quantize(%d, %t) {dtype=u8}
  })"));
}

TEST(QuantizedMovesTest, TheSameScaleGivesTheSameBytes) {
  EXPECT_THAT(QuantisedAgain("0.3", "0.3"), Not(HasSubstr("quantize")));
  EXPECT_THAT(QuantisedAgain("-0.3", "-0.3"), Not(HasSubstr("quantize")));
  EXPECT_THAT(QuantisedAgain("0.3", "0.25"), HasSubstr("quantize(%d"));
}

TEST(QuantizedMovesTest, ScalesAtTheEndsOfTheRangeDoNot) {
  EXPECT_THAT(QuantisedAgain("1e-42", "1e-42"), HasSubstr("quantize(%d"));
  EXPECT_THAT(QuantisedAgain("3e38", "3e38"), HasSubstr("quantize(%d"));
}

}  // namespace
}  // namespace ingot::relay
