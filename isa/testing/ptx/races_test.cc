// Uses of memory that nothing orders.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/testing/ptx/run_text.h"

namespace ingot::isa::ptx {
namespace {

using ::testing::HasSubstr;

// Each thread writes to its place of the tile, and reads that of its neighbour.
std::string Neighbours(const std::string& type, int bytes,
                       const std::string& between) {
  const std::string size = std::to_string(bytes);
  return R"(
  .shared .align 16 .b8 tile[1024];
  mov.u64 %d1, tile;
  cvt.u16.u32 %s1, %t;
  xor.b32 %r1, %t, 1;
  mul.wide.u32 %d2, %t, )" +
         size + ";\nmul.wide.u32 %d3, %r1, " + size + R"(;
  add.s64 %d2, %d1, %d2;
  add.s64 %d3, %d1, %d3;
  st.shared.)" +
         type + " [%d2], %s1;\n" + between + "ld.shared." + type +
         " %s2, [%d3];\n";
}

// Several threads have parts of a word: these are told from each other.
TEST(PtxRaces, OfAWarpEndWhereItMeets) {
  for (const auto& [type, bytes] :
       {std::pair<std::string, int>{"u16", 2}, {"u8", 1}}) {
    const Failure failure = FailureOf(Neighbours(type, bytes, ""), 32);
    EXPECT_EQ(failure.code, kIllegalInstruction);
    EXPECT_THAT(failure.text, HasSubstr("lane 1 of the warp wrote word 0"));
    for (const std::string between : {"bar.warp.sync -1;\n", "bar.sync 0;\n"}) {
      EXPECT_EQ(FailureOf(Neighbours(type, bytes, between), 32).code, 0);
    }
    EXPECT_THAT(
        FailureOf(Neighbours(type, bytes, "bar.warp.sync 1;\n"), 32).text,
        HasSubstr("it is for a part of the warp"));
  }
}

// Halves that warps share, and words of which each has its half.
TEST(PtxRaces, OfWarpsAreOfHalvesToo) {
  const auto swap = [](const std::string& between) {
    return R"(
  .shared .align 16 .b8 tile[256];
  mov.u64 %d1, tile;
  cvt.u16.u32 %s1, %t;
  xor.b32 %r1, %t, 32;
  mul.wide.u32 %d2, %t, 2;
  mul.wide.u32 %d3, %r1, 2;
  add.s64 %d2, %d1, %d2;
  add.s64 %d3, %d1, %d3;
  st.shared.u16 [%d2], %s1;
)" + between +
           "ld.shared.u16 %s2, [%d3];\n";
  };
  EXPECT_THAT(FailureOf(swap(""), 64).text, HasSubstr("warp 0 read word 16"));
  EXPECT_THAT(FailureOf(swap("bar.warp.sync -1;\n"), 64).text,
              HasSubstr("warp 0 read word 16"));
  EXPECT_EQ(FailureOf(swap("bar.sync 0;\n"), 64).code, 0);
  // Each warp has every other half.
  EXPECT_EQ(FailureOf(R"(
  .shared .align 16 .b8 tile[256];
  mov.u64 %d1, tile;
  cvt.u16.u32 %s1, %t;
  and.b32 %r1, %t, 31;
  shr.u32 %r2, %t, 5;
  mad.lo.s32 %r1, %r1, 2, %r2;
  mul.wide.u32 %d2, %r1, 2;
  add.s64 %d2, %d1, %d2;
  st.shared.u16 [%d2], %s1;
  ld.shared.u16 %s2, [%d2];)",
                      64)
                .code,
            0);
}

// Several may write the same value: the result does not depend on their order.
TEST(PtxRaces, OfWritersAreNoneWhereTheyAgree) {
  const auto store = [](const std::string& value, uint32_t threads) {
    return FailureOf(
        "  .shared .align 4 .b8 tile[4];\n  shr.u32 %r1, %t, 5;\n"
        "  mov.u32 %r2, 7;\n  st.shared.u32 [tile], " +
            value + ";\n",
        threads);
  };
  EXPECT_EQ(store("%r2", 64).code, 0);
  EXPECT_EQ(store("%r1", 32).code, 0);
  EXPECT_THAT(store("%r1", 64).text,
              HasSubstr("wrote something else to word 0"));
  EXPECT_THAT(store("%t", 32).text,
              HasSubstr("lane 0 of the warp wrote something else to word 0"));
}

// Matrices are loaded for all lanes.
TEST(PtxRaces, OfWhatTheWarpLoadsTogether) {
  const auto load = [](const std::string& between) {
    return FailureOf(R"(
  .shared .align 16 .b8 tile[512];
  mov.u64 %d1, tile;
  mul.wide.u32 %d2, %t, 16;
  add.s64 %d1, %d1, %d2;
  st.shared.v4.u32 [%d1], {%t, %t, %t, %t};
)" + between +
                         "ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                         "{%r1, %r2, %r3, %r4}, [%d1];",
                     32);
  };
  EXPECT_THAT(load("").text, HasSubstr("lane 0 of the warp wrote word 0"));
  EXPECT_EQ(load("bar.warp.sync -1;\n").code, 0);
}

TEST(PtxRaces, OfWritersOfWhatOthersRead) {
  const auto late = [](const std::string& between) {
    return FailureOf(R"(
  .shared .align 4 .b8 tile[4];
  setp.eq.u32 %p0, %t, 0;
  @%p0 st.shared.u32 [tile], %t;
  bar.sync 0;
  ld.shared.u32 %r1, [tile];
)" + between + "@%p0 st.shared.u32 [tile], %t;",
                     32);
  };
  EXPECT_THAT(late("").text,
              HasSubstr("several lanes of the warp read word 0"));
  EXPECT_EQ(late("bar.warp.sync -1;\n").code, 0);
}

TEST(PtxRaces, ArraysAreApart) {
  const std::string arrays =
      "  .shared .align 16 .b8 a[16];\n  .shared .align 4 .b8 b[4];\n";
  EXPECT_EQ(FailureOf(arrays + "st.shared.u32 [a+12], %t;", 1).code, 0);
  EXPECT_EQ(FailureOf(arrays + "st.shared.u32 [b], %t;", 1).code, 0);
  const Failure beyond = FailureOf(arrays + "st.shared.u32 [a+16], %t;", 1);
  EXPECT_EQ(beyond.code, kIllegalAddress);
  EXPECT_THAT(beyond.text, HasSubstr("no array has word 4"));
  EXPECT_EQ(FailureOf(arrays + "ld.shared.u32 %r1, [b+-4];", 1).code,
            kIllegalAddress);
}

// Blocks do not wait for each other, whichever comes first.
TEST(PtxRaces, OfBlocksInGlobalMemory) {
  const auto run = [](const std::string& body, uint32_t threads = 1,
                      uint32_t blocks = 2) {
    std::vector<uint32_t> out(4);
    return RunText(KernelOf("  ld.param.u64 %d1, [k_param_1];\n"
                            "  mov.u32 %r1, %ctaid.x;\n"
                            "  setp.eq.u32 %p0, %r1, 0;\n" +
                            body),
                   threads, {0}, &out, blocks)
        .text;
  };
  const std::string store = "  st.global.u32 [%d1], 7;\n",
                    load = "  ld.global.u32 %r2, [%d1];\n";
  EXPECT_EQ(run(store + load, 1, 1), "");
  EXPECT_EQ(run(store), "");
  EXPECT_EQ(run(store + load), "");
  EXPECT_THAT(
      run("  @!%p0" + store + load),
      HasSubstr("thread 0 of block 1 wrote there, and no barrier follows"));
  EXPECT_THAT(run("  st.global.u32 [%d1], %r1;\n"),
              HasSubstr("wrote something else there"));
  EXPECT_THAT(run("  @!%p0 st.global.u8 [%d1+1], %r1;\n  @%p0" + load),
              HasSubstr("wrote there"));
  EXPECT_EQ(run("  @!%p0 st.global.u8 [%d1+4], %r1;\n  @%p0" + load), "");
  // The threads of a block have barriers.
  const std::string one = "  setp.eq.u32 %p1, %t, 1;\n  @%p1" + store;
  EXPECT_THAT(
      run(one + load, 2, 1),
      HasSubstr("thread 1 of block 0 wrote there, and no barrier follows"));
  EXPECT_EQ(run(one + "  bar.sync 0;\n" + load, 2, 1), "");
  EXPECT_THAT(
      run(one + "  bar.sync 0;\n  ld.global.nc.u32 %r2, [%d1];\n", 2, 1),
      HasSubstr("which no thread may in this launch"));
  EXPECT_THAT(run("  .shared .align 4 .b8 tile[4];\n  @!%p0" + store +
                  "  cp.async.ca.shared.global [tile], [%d1], 4;\n"),
              HasSubstr("wrote there"));
}

// A block does not see the registers of those that ran before it.
TEST(PtxRaces, BlocksHaveRegistersOfTheirOwn) {
  std::vector<uint32_t> out(2);
  const Failure failure = RunText(KernelOf(R"(
  setp.eq.u32 %p0, %r0, 0;
  @%p0 bra $first;
  mov.u32 %r1, 7;
$first:
  st.global.u32 [%out], %r1;)"),
                                  1, {0}, &out, 2);
  EXPECT_EQ(failure.code, 0) << failure.text;
  EXPECT_THAT(out, ::testing::ElementsAre(~0u, 7));
}

}  // namespace
}  // namespace ingot::isa::ptx
