#include "compiler/driver/main/header.h"

#include <string>

#include "compiler/tir/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Header(const std::string& function, bool has_arena) {
  Plan plan;
  plan.set_entry("a */ b");
  for (const char* name : {"x", "y*/"}) plan.add_tensors()->set_name(name);
  plan.add_inputs(0);
  plan.add_outputs(1);
  BuiltMain built;
  built.function = *tir::Parse(function);
  built.main.function = "net_main";
  built.main.has_arena = has_arena;
  return MainHeader(built, plan, "net", 64);
}

TEST(HeaderTest, HasConstantSizesAsConstants) {
  const std::string header = Header(
      "func @net_main(%in_x: i8[2, 3]) -> (%out_y: bool[]) "
      "workspace(%arena: u8[128]) { %out_y[] = true }",
      true);
  EXPECT_THAT(header, HasSubstr("/* The model a * / b, compiled by Ingot.\n"));
  EXPECT_THAT(header, HasSubstr("/* The input x: i8[2, 3] */\n"
                                "#define NET_IN_X_RANK 2\n"
                                "#define NET_IN_X_SHAPE {2, 3}\n"
                                "#define NET_IN_X_ELEMENTS 6\n"
                                "#define NET_IN_X_BYTES 6\n"));
  EXPECT_THAT(header, HasSubstr("/* The output y* /: bool[] */\n"
                                "#define NET_OUT_Y_RANK 0\n"
                                "#define NET_OUT_Y_ELEMENTS 1\n"));
  EXPECT_THAT(header, HasSubstr("#define NET_ARENA_BYTES 128\n"));
  EXPECT_THAT(header, HasSubstr("#define NET_CONSTANTS_BYTES 64\n"));
  EXPECT_THAT(header, HasSubstr("int net_run(const int8_t* in_x,\n"
                                "    uint8_t* out_y,\n"
                                "    void* arena);\n"));
}

// Names that differ in nothing but the case of letters, and one that is what
// the second of them gets.
TEST(HeaderTest, MacrosOfTwoTensorsAreTwo) {
  Plan plan;
  plan.set_entry("net");
  for (const char* name : {"x", "X", "x_1", "y"}) {
    plan.add_tensors()->set_name(name);
  }
  for (int t : {0, 1, 2}) plan.add_inputs(t);
  plan.add_outputs(3);
  BuiltMain built;
  built.function = *tir::Parse(
      "func @net_main(%in_x: f32[2], %in_X: f32[5], %in_x_1: f32[7]) -> "
      "(%out_y: bool[]) { %out_y[] = true }");
  const std::string header = MainHeader(built, plan, "net", 0);
  EXPECT_THAT(header, HasSubstr("#define NET_IN_X_ELEMENTS 2\n"));
  EXPECT_THAT(header, HasSubstr("#define NET_IN_X_1_ELEMENTS 5\n"));
  EXPECT_THAT(header, HasSubstr("#define NET_IN_X_1_1_ELEMENTS 7\n"));
}

// Two dimensions whose names are one as C identifiers.
TEST(HeaderTest, HasSymbolicSizesAsFunctions) {
  const std::string header = Header(
      "func @net_main(%in_x: f16[a.b, a_b]) -> (%out_y: f32[a.b]) "
      "workspace(%arena: u8[a.b * 64]) { for i in [0, a.b) { %out_y[i] = 0.0f "
      "} "
      "}",
      true);
  EXPECT_THAT(header, Not(HasSubstr("ARENA_BYTES")));
  EXPECT_THAT(header, Not(HasSubstr("IN_X_ELEMENTS")));
  EXPECT_THAT(header, HasSubstr("int64_t net_arena_bytes(int64_t dim_a_b, "
                                "int64_t dim_a_b_1);\n"));
  EXPECT_THAT(header, HasSubstr("int net_run(const uint16_t* in_x,\n"
                                "    float* out_y,\n"
                                "    int64_t dim_a_b,\n"
                                "    int64_t dim_a_b_1,\n"
                                "    void* arena);\n"));
}

TEST(HeaderTest, AModelWithoutAnArenaNeedsNoBytes) {
  EXPECT_THAT(Header("func @net_main(%in_x: f32[n]) -> (%out_y: f32[n]) { for "
                     "i in [0, n) { %out_y[i] = %in_x[i] } }",
                     false),
              HasSubstr("#define NET_ARENA_BYTES 0\n"));
}

}  // namespace
}  // namespace ingot
