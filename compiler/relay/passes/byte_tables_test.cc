#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/passes/test_support.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using Ops = std::vector<std::string>;

// A function of x, which is u8[2, 300], and of a second operand of that type.
std::string Of(absl::string_view body) {
  return Main(
      absl::StrCat("(%x: u8[2, 300], %z: u8[2, 300]) -> (%y) {\n", body, "}"));
}

constexpr char kDequantized[] =
    "  %s = const f32[] {0.03}\n"
    "  %o = const u8[] {131}\n"
    "  %d = dequantize(%x, %s, %o)\n";

TEST(ByteTablesTest, ChainsBetweenRoundingsAreOneTable) {
  const std::string text =
      Of(absl::StrCat(kDequantized,
                      "  %g = sigmoid(%d)\n"
                      "  %q = quantize(%g, %s, %o) {dtype=u8}\n"
                      "  %e = dequantize(%q, %s, %o)\n"
                      "  %m = mul(%d, %e)\n"
                      "  %y = quantize(%m, %s, %o) {dtype=u8}\n"));
  EXPECT_EQ(OpsAfter(text, {"byte_tables", "eliminate_dead"}, 0),
            Ops{"look_up"});
}

TEST(ByteTablesTest, SignedBytesAreIndicesByTheirBits) {
  const std::string text = Main(
      "(%x: i8[2, 300]) -> (%y) {\n"
      "  %s = const f32[] {0.03}\n"
      "  %d = dequantize(%x, %s)\n"
      "  %g = tanh(%d)\n"
      "  %y = quantize(%g, %s) {dtype=i8}\n"
      "}");
  EXPECT_EQ(OpsAfter(text, {"byte_tables", "eliminate_dead"}, 0),
            Ops{"look_up"});
}

TEST(ByteTablesTest, WhatTwoBytesMakeStays) {
  const std::string text =
      Of(absl::StrCat(kDequantized,
                      "  %f = dequantize(%z, %s, %o)\n"
                      "  %a = mul(%d, %f)\n"
                      "  %g = sigmoid(%a)\n"
                      "  %y = quantize(%g, %s, %o) {dtype=u8}\n"));
  EXPECT_EQ(OpsAfter(text, {"byte_tables", "eliminate_dead"}, 0),
            (Ops{"dequantize", "dequantize", "mul", "sigmoid", "quantize"}));
}

TEST(ByteTablesTest, AFewInstructionsAreNoTable) {
  const std::string text =
      Of(absl::StrCat(kDequantized,
                      "  %g = relu(%d)\n"
                      "  %y = quantize(%g, %s, %o) {dtype=u8}\n"));
  EXPECT_EQ(OpsAfter(text, {"byte_tables", "eliminate_dead"}, 0),
            (Ops{"dequantize", "relu", "quantize"}));
}

TEST(ByteTablesTest, ConstantsOfChannelsAreNoTable) {
  const std::string text =
      Of(absl::StrCat(kDequantized,
                      "  %c = const f32[300] random(1)\n"
                      "  %a = add(%d, %c)\n"
                      "  %g = sigmoid(%a)\n"
                      "  %y = quantize(%g, %s, %o) {dtype=u8}\n"));
  EXPECT_EQ(OpsAfter(text, {"byte_tables", "eliminate_dead"}, 0),
            (Ops{"dequantize", "add", "sigmoid", "quantize"}));
}

TEST(ByteTablesTest, PlacesThatCountAreNoTable) {
  const std::string text = Main(
      "(%x: u8[4, 4]) -> (%y) {\n"
      "  %y = trilu(%x)\n"
      "}");
  EXPECT_EQ(OpsAfter(text, {"byte_tables", "eliminate_dead"}, 0), Ops{"trilu"});
}

}  // namespace
}  // namespace ingot::relay
