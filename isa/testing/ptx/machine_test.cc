// Threads, memory and failures of the machine.
#include "isa/testing/ptx/machine.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "isa/testing/ptx/run_text.h"

namespace ingot::isa::ptx {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<uint32_t> Range(uint32_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(PtxMachine, RunsBlocksOfThreads) {
  std::vector<uint32_t> out(3 * 40);
  const Failure failure = RunText(KernelOf(R"(
  mad.lo.s32 %r1, %ctaid.x, 100, %t;
  st.global.u32 [%out], %r1;)"),
                                  40, {}, &out, 3);
  EXPECT_EQ(failure.code, 0) << failure.text;
  for (uint32_t k = 0; k < out.size(); ++k) {
    EXPECT_EQ(out[k], k / 40 * 100 + k % 40);
  }
}

// Threads go around as often as their number says, in both arms of a branch,
// and are together behind it.
TEST(PtxMachine, PartsAndJoinsThreads) {
  const std::vector<uint32_t> out = WordsOf(R"(
  mov.u32 %r1, 0;
  mov.u32 %r2, 0;
  and.b32 %r3, %t, 1;
  setp.eq.s32 %p0, %r3, 1;
  @%p0 bra $odd;
$loop:
  setp.ge.u32 %p1, %r2, %t;
  @%p1 bra $join;
  add.s32 %r1, %r1, %r2;
  add.s32 %r2, %r2, 1;
  bra.uni $loop;
$odd:
  mul.lo.s32 %r1, %t, 1000;
$join:
  activemask.b32 %r4;
  st.global.v2.u32 [%out], {%r1, %r4};)",
                                            32, {}, 2);
  for (uint32_t k = 0; k < 32; ++k) {
    EXPECT_EQ(out[2 * k], k % 2 == 1 ? 1000 * k : k * (k - 1) / 2) << k;
    EXPECT_EQ(out[2 * k + 1], kAllLanes);
  }
}

TEST(PtxMachine, RunsInstructionsUnderPredicates) {
  const std::vector<uint32_t> out = WordsOf(R"(
  setp.lt.u32 %p0, %t, 3;
  mov.u32 %r1, 5;
  @%p0 mov.u32 %r1, 7;
  @!%p0 add.s32 %r1, %r1, 1;
  st.global.u32 [%out], %r1;)",
                                            5);
  EXPECT_THAT(out, ElementsAre(7, 7, 7, 6, 6));
}

constexpr char kReverse[] = R"(
  .shared .align 16 .b8 tile[400];
  mov.u64 %d1, tile;
  mul.wide.u32 %d2, %t, 4;
  add.s64 %d3, %d1, %d2;
  st.shared.u32 [%d3], %t;
)";
constexpr char kReadReversed[] = R"(
  sub.s64 %d4, %d1, %d2;
  ld.shared.u32 %r1, [%d4+396];
  st.global.u32 [%out], %r1;)";

TEST(PtxMachine, ThreadsOfABlockShareMemoryBehindBarriers) {
  const std::vector<uint32_t> out =
      WordsOf(std::string(kReverse) + "  bar.sync 0;" + kReadReversed, 100);
  for (uint32_t k = 0; k < 100; ++k) EXPECT_EQ(out[k], 99 - k);
}

// Whoever of two warps comes first.
TEST(PtxMachine, FailsWhereWarpsDoNotWait) {
  const std::string meet = "  bar.warp.sync -1;";
  const Failure late = FailureOf(kReverse + meet + kReadReversed, 100);
  EXPECT_EQ(late.code, kIllegalInstruction);
  EXPECT_THAT(late.text, HasSubstr("st.shared.u32 [%d3], %t: warp 1 read word "
                                   "64 of shared memory since the last "
                                   "barrier"));
  const std::string share = R"(
  .shared .align 4 .b8 tile[4];
  setp.eq.u32 %p0, %t, 0;
  @%p0 st.shared.u32 [tile], %t;
)";
  const std::string read = "  ld.shared.u32 %r1, [tile];";
  const Failure early = FailureOf(share + meet + read, 64);
  EXPECT_EQ(early.code, kIllegalInstruction);
  EXPECT_THAT(early.text, HasSubstr("warp 0 wrote word 0"));
  EXPECT_EQ(FailureOf(share + "  bar.sync 0;\n" + read, 64).code, 0);
  // One warp needs no barrier here.
  EXPECT_EQ(FailureOf(share + meet + read, 32).code, 0);
}

TEST(PtxMachine, FailsWhereOthersReadWhatIsCopied) {
  const std::string copy = R"(
  .shared .align 16 .b8 tile[16];
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra $read;
  cp.async.cg.shared.global [tile], [%in], 16;
  cp.async.wait_all;
$read:
  bar.warp.sync -1;
)";
  const std::string read = "  ld.shared.u32 %r1, [tile];";
  EXPECT_THAT(FailureOf(copy + read, 64, Range(4)).text,
              HasSubstr("warp 0 wrote word 0"));
  EXPECT_EQ(FailureOf(copy + "  bar.sync 0;\n" + read, 64, Range(4)).code, 0);
}

// The other arm of the branch is behind the barrier in the text.
TEST(PtxMachine, WaitsForTheWholeWarp) {
  const std::vector<uint32_t> out = WordsOf(R"(
  mov.u32 %r1, 1;
  setp.lt.u32 %p0, %t, 5;
  @%p0 bra $far;
$meet:
  bar.sync 0;
  activemask.b32 %r2;
  add.s32 %r1, %r1, %r2;
  st.global.u32 [%out], %r1;
  ret;
$far:
  mov.u32 %r1, 2;
  bra.uni $meet;)",
                                            32);
  for (uint32_t k = 0; k < 32; ++k) EXPECT_EQ(out[k], k < 5 ? 1u : 0u);
}

TEST(PtxMachine, FailsWhereThreadsMissABarrier) {
  const Failure part = FailureOf(R"(
  setp.lt.u32 %p0, %t, 5;
  @%p0 ret;
  bar.sync 0;)",
                                 32);
  EXPECT_EQ(part.code, kIllegalInstruction);
  EXPECT_EQ(part.text,
            "k, line 23: bar.sync 0: threads of the warp ended without it "
            "(block 0)");
  const Failure warp = FailureOf(R"(
  setp.lt.u32 %p0, %t, 32;
  @%p0 ret;
  bar.sync 0;)",
                                 64);
  EXPECT_EQ(warp.code, kIllegalInstruction);
  EXPECT_THAT(warp.text, HasSubstr("threads of the block ended without it"));
  const auto parting_at = [](const std::string& thread, uint32_t threads) {
    return FailureOf("\n  setp.lt.u32 %p0, %t, " + thread + R"(;
  @%p0 bra $other;
  bar.sync 0;
  ret;
$other:
  bar.sync 0;)",
                     threads);
  };
  const Failure two = parting_at("5", 32);
  EXPECT_EQ(two.code, kIllegalInstruction);
  EXPECT_THAT(two.text, HasSubstr("threads of the warp wait at line 23, too"));
  const Failure warps = parting_at("32", 64);
  EXPECT_EQ(warps.code, kIllegalInstruction);
  EXPECT_THAT(warps.text,
              HasSubstr("threads of the block wait at line 26, too"));
}

TEST(PtxMachine, FailsOutsideOfMemory) {
  EXPECT_EQ(FailureOf("ld.global.u32 %r1, [%in];", 32, {1}).code, 0);
  const Failure beyond = FailureOf("ld.global.u32 %r1, [%in+4];", 32, {1});
  EXPECT_EQ(beyond.code, kIllegalAddress);
  EXPECT_THAT(beyond.text,
              HasSubstr("k, line 20: ld.global.u32 %r1, [%in+4]: nothing is at "
                        "address 0x"));
  EXPECT_EQ(FailureOf("ld.global.v2.u32 {%r1, %r2}, [%in];", 1, {1}).code,
            kIllegalAddress);
  EXPECT_EQ(FailureOf("st.global.u32 [%out+4], %t;", 32).code, kIllegalAddress);
  const std::string array = "  .shared .align 4 .b8 tile[8];\n";
  EXPECT_EQ(FailureOf(array + "st.shared.u32 [tile+4], %t;", 1).code, 0);
  EXPECT_EQ(FailureOf(array + "st.shared.u32 [tile+8], %t;", 1).code,
            kIllegalAddress);
  EXPECT_EQ(FailureOf(array + "ld.shared.u32 %r1, [tile+-4];", 1).code,
            kIllegalAddress);
  // Who does nothing does not fail.
  EXPECT_EQ(FailureOf(R"(
  setp.gt.u32 %p0, %t, 31;
  @%p0 ld.global.u32 %r1, [%in+4];)",
                      32)
                .code,
            0);
}

TEST(PtxMachine, FailsWhereAnAddressIsMisaligned) {
  const std::vector<uint32_t> in(8);
  EXPECT_EQ(FailureOf("ld.global.u32 %r1, [%in+2];", 32, in).code, kMisaligned);
  EXPECT_EQ(FailureOf("ld.global.u16 %s1, [%in+2];", 32, in).code, 0);
  const std::string four = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, ";
  EXPECT_EQ(FailureOf(four + "[%in+16];", 32, in).code, 0);
  EXPECT_EQ(FailureOf(four + "[%in+8];", 32, in).code, kMisaligned);
  EXPECT_EQ(FailureOf(R"(
  .shared .align 4 .b8 tile[8];
  st.shared.u32 [tile+1], %t;)",
                      32)
                .code,
            kMisaligned);
}

TEST(PtxMachine, FailsWhereAKernelGivesUp) {
  const std::string body = "setp.gt.u32 %p0, %t, 3;\n@%p0 trap;";
  EXPECT_EQ(FailureOf(body, 4).code, 0);
  EXPECT_EQ(FailureOf(body, 5).code, kIllegalInstruction);
}

TEST(PtxMachine, FailsWithTooManyThreads) {
  std::vector<uint32_t> out(64);
  std::string text = KernelOf("st.global.u32 [%out], %t;");
  text.insert(text.find("{"), ".maxntid 32, 1, 1\n");
  EXPECT_EQ(RunText(text, 32, {}, &out).code, 0);
  EXPECT_EQ(RunText(text, 64, {}, &out).code, kInvalidValue);
}

TEST(PtxMachine, HasMemoryOfEachThread) {
  const std::vector<uint32_t> out = WordsOf(R"(
  .local .align 8 .b8 depot[16];
  mov.u64 %d1, depot;
  cvta.local.u64 %d2, %d1;
  st.u32 [%d2+8], %t;
  ld.local.u32 %r1, [%d1+8];
  ld.local.u32 %r2, [%d1+12];
  st.global.v2.u32 [%out], {%r1, %r2};)",
                                            40, {}, 2);
  for (uint32_t k = 0; k < 40; ++k) {
    EXPECT_EQ(out[2 * k], k);
    EXPECT_EQ(out[2 * k + 1], ~0u);
  }
}

TEST(PtxMachine, HasArraysOfTheModule) {
  std::string text = KernelOf(R"(
  ld.global.u32 %r1, [numbers+4];
  ld.shared.u32 %r2, [all];
  add.s32 %r1, %r1, %r2;
  st.global.u32 [%out], %r1;)");
  text.insert(text.find(".visible"),
              ".global .align 4 .b8 numbers[12] = {1, 0, 0, 0, 2, 1};\n"
              ".shared .align 4 .f32 all;\n");
  std::vector<uint32_t> out(1);
  EXPECT_EQ(RunText(text, 1, {}, &out).code, 0);
  EXPECT_EQ(out[0], 257u);
}

TEST(PtxMachine, RefusesWhatItDoesNotKnow) {
  const auto refusal = [](const std::string& body) {
    Failure failure;
    EXPECT_EQ(Parse(KernelOf(body), &failure), nullptr) << body;
    EXPECT_EQ(failure.code, kInvalidPtx);
    return failure.text;
  };
  EXPECT_EQ(refusal("\n  tex.2d %r1, [%d1];"),
            "k, line 21: tex.2d %r1, [%d1]: the machine does not know this "
            "instruction");
  EXPECT_THAT(refusal("add.s32 %r1, %d1, %r2;"),
              HasSubstr("its type is not that of %d1"));
  EXPECT_THAT(refusal("add.s32 %r1, %r2;"), HasSubstr("2 operands and not 3"));
  EXPECT_THAT(refusal("add.s32 %r1, %r2, %r99;"),
              HasSubstr("no operand: %r99"));
  const auto refusal_of = [&](const std::string& target,
                              const std::string& version,
                              const std::string& body) {
    std::string text = KernelOf(body);
    text.replace(text.find("8.3"), 3, version);
    text.replace(text.find("sm_90a"), 6, target);
    Failure failure;
    Parse(text, &failure);
    return failure.text;
  };
  const std::string copy = "cp.async.wait_all;";
  EXPECT_THAT(refusal_of("sm_75", "7.0", copy), HasSubstr("it needs sm_80"));
  EXPECT_THAT(refusal_of("sm_80", "6.3", copy),
              HasSubstr("it needs version 7.0 of PTX"));
  EXPECT_EQ(refusal_of("sm_80", "7.0", copy), "");
  const std::string wait = "wgmma.wait_group.sync.aligned 0;";
  EXPECT_THAT(refusal_of("sm_90", "8.0", wait), HasSubstr("it needs sm_90a"));
  EXPECT_THAT(refusal_of("sm_100a", "8.7", wait), HasSubstr("it needs sm_90a"));
  EXPECT_EQ(refusal_of("sm_90a", "8.0", wait), "");
  EXPECT_THAT(refusal("bra $nowhere;"), HasSubstr("no label $nowhere"));
  EXPECT_THAT(refusal(".shared .align 4 .b8 tile[49153];"),
              HasSubstr("49153 bytes of shared memory"));
}

// The destination is garbage until the thread has waited for the copy's group.
TEST(PtxMachine, CopiesArriveWhenTheyAreWaitedFor) {
  const std::vector<uint32_t> out = WordsOf(R"(
  .shared .align 16 .b8 tile[32];
  mov.u32 %r1, 0;
  st.shared.u32 [tile], %r1;
  cp.async.ca.shared.global [tile], [%in], 4;
  cp.async.commit_group;
  cp.async.cg.shared.global [tile+16], [%in+16], 16;
  cp.async.commit_group;
  ld.shared.u32 %r1, [tile];
  cp.async.wait_group 1;
  ld.shared.u32 %r2, [tile];
  ld.shared.u32 %r3, [tile+28];
  cp.async.wait_group 0;
  ld.shared.u32 %r4, [tile+28];
  st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};)",
                                            1, Range(8), 4);
  EXPECT_THAT(out, ElementsAre(~0u, 0, ~0u, 7));
}

TEST(PtxMachine, CopiesZerosBeyondTheSource) {
  const std::vector<uint32_t> out = WordsOf(R"(
  .shared .align 16 .b8 tile[16];
  mov.u32 %r1, 8;
  mov.u32 %r2, 0;
  cp.async.cg.shared.global [tile], [%in], 16, %r1;
  cp.async.wait_all;
  ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [tile];
  cp.async.ca.shared.global [tile], [0], 4, %r2;
  cp.async.wait_all;
  ld.shared.u32 %r3, [tile];
  st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6};)",
                                            1, {1, 2}, 4);
  EXPECT_THAT(out, ElementsAre(0, 2, 0, 0));
  EXPECT_EQ(FailureOf(R"(
  .shared .align 16 .b8 tile[16];
  cp.async.cg.shared.global [tile], [%in+4], 16;)",
                      1, Range(8))
                .code,
            kMisaligned);
  // Even where nothing is read.
  EXPECT_EQ(FailureOf(R"(
  .shared .align 16 .b8 tile[16];
  mov.u32 %r1, 0;
  cp.async.cg.shared.global [tile], [%in+4], 16, %r1;)",
                      1, Range(8))
                .code,
            kMisaligned);
}

TEST(PtxMachine, ThreadsOfAWarpReadEachOther) {
  const std::vector<uint32_t> out = WordsOf(R"(
  mul.lo.s32 %r1, %t, 10;
  shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
  shfl.sync.down.b32 %r3|%p1, %r1, 16, 31, -1;
  shfl.sync.up.b32 %r4, %r1, 1, 0, -1;
  shfl.sync.idx.b32 %r5, %r1, 3, 31, -1;
  st.global.v4.u32 [%out], {%r2, %r3, %r4, %r5};)",
                                            32, {}, 4);
  for (uint32_t k = 0; k < 32; ++k) {
    EXPECT_EQ(out[4 * k], 10 * (k ^ 1));
    EXPECT_EQ(out[4 * k + 1], 10 * (k < 16 ? k + 16 : k));
    EXPECT_EQ(out[4 * k + 2], 10 * (k == 0 ? 0 : k - 1));
    EXPECT_EQ(out[4 * k + 3], 30u);
  }
}

TEST(PtxMachine, ThreadsOfAWarpVote) {
  const std::vector<uint32_t> out = WordsOf(R"(
  setp.lt.u32 %p0, %t, 4;
  vote.sync.ballot.b32 %r1, %p0, -1;
  vote.sync.any.pred %p1, %p0, -1;
  vote.sync.all.pred %p2, %p0, -1;
  @%p1 add.s32 %r1, %r1, 100;
  @%p2 add.s32 %r1, %r1, 1000;
  st.global.u32 [%out], %r1;)",
                                            32);
  EXPECT_THAT(out, Each(115));
}

}  // namespace
}  // namespace ingot::isa::ptx
