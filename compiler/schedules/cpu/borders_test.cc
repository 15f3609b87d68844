// Borders of windows: where they are, and that kernels whose padding is no copy
// compute what the definition says, for planes of all sizes around the tiles'.
#include "compiler/schedules/cpu/borders.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/machine/test_machine.h"
#include "compiler/schedules/choose.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/lower.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/passes/passes.h"
#include "compiler/tir/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(BordersTest, TilesAreCutWhereTheInteriorHasWholeOnes) {
  EXPECT_THAT(TileCuts({1, 39}, 40, 4), ElementsAre(4, 36));
  EXPECT_THAT(TileCuts({1, 13}, 14, 4), ElementsAre(4, 12));
  EXPECT_THAT(TileCuts({1, 39}, 40, 1), ElementsAre(1, 39));
  EXPECT_THAT(TileCuts({2, 38}, 40, 1), ElementsAre(1, 2, 38, 39));
  EXPECT_THAT(TileCuts({0, 39}, 40, 4), ElementsAre(36));
  EXPECT_THAT(TileCuts({3, 40}, 40, 4), ElementsAre(4));
  EXPECT_THAT(TileCuts({0, 40}, 40, 4), IsEmpty());
  // No whole tile is inside: each is a border.
  EXPECT_THAT(TileCuts({1, 6}, 7, 4), ElementsAre(4));
  EXPECT_THAT(TileCuts({3, 5}, 11, 4), ElementsAre(4, 8));
  EXPECT_THAT(TileCuts({2, 2}, 3, 1), ElementsAre(1, 2));
  EXPECT_THAT(TileCuts({1, 3}, 4, 4), IsEmpty());
}

// The loops that a kernel's own template makes, chosen not to copy padding and
// to have these values of other parameters; caches are small where there are
// none.
class PaddingTest : public testing::TestWithParam<int> {
 protected:
  using Values = std::map<std::string, int64_t>;

  Schedule Make(const Kernel& kernel, const Values& others = {}) {
    chosen_ = false;
    auto schedule = ScheduleKernel(
        kernel.graph, kernel.outputs, CpuTemplates(),
        others.empty() ? TestCpuWithSmallCaches(GetParam())
                       : TestCpu(GetParam()),
        [&](const ScheduleTemplate& t, const ScheduleSite& site,
            const ScheduleChoice& cheapest) {
          for (const ScheduleChoice& point : AllPoints(t, site)) {
            if (!absl::StrContains(point.ToString(), "copies_padding=0") ||
                !std::all_of(others.begin(), others.end(),
                             [&](const auto& other) {
                               return point.Get(other.first) == other.second;
                             })) {
              continue;
            }
            chosen_ = true;
            return point;
          }
          return cheapest;
        });
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return *std::move(schedule);
  }
  void Check(const Kernel& kernel, bool chosen = true) {
    const Schedule schedule = Make(kernel);
    EXPECT_EQ(chosen_, chosen);
    ExpectSame(kernel, schedule);
  }

  // The kernel's loops with a statement for each copy of an unrolled one.
  std::string UnrolledText(const Kernel& kernel) {
    auto func =
        Lower("f", kernel.graph, kernel.inputs, kernel.outputs, Make(kernel));
    if (func.ok()) func = tir::VectorizeLoops(tir::Simplify(*func));
    if (func.ok()) func = tir::UnrollLoops(*func);
    EXPECT_TRUE(func.ok()) << func.status();
    return func.ok() ? tir::Print(*func) : "";
  }

  bool chosen_ = false;
};

TEST_P(PaddingTest, Windows) {
  for (const bool pool : {false, true}) {
    for (const int64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 13, 18}) {
      for (const int64_t kernel : {2, 3, 5}) {
        for (const int64_t stride : {1, 2}) {
          const int64_t pad = kernel / 2;
          if (size + 2 * pad < kernel) continue;
          SCOPED_TRACE(absl::StrCat("plane ", size, ", kernel ", kernel,
                                    ", stride ", stride, pool ? ", pool" : ""));
          Check(BlockedWindow({1, 16, 0, size, kernel, stride, pad, 1}, pool));
        }
      }
    }
  }
}

TEST_P(PaddingTest, FirstConvolutions) {
  for (const int64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 13, 18}) {
    for (const int64_t stride : {1, 2}) {
      SCOPED_TRACE(absl::StrCat("plane ", size, ", stride ", stride));
      Check(PlainDataConv({2, 3, 16, size, 3, stride, 1, 1}, true));
    }
  }
}

TEST_P(PaddingTest, BlockedConvolutions) {
  for (const int64_t size : {1, 2, 5, 13}) {
    for (const int64_t kernel : {2, 3}) {
      for (const int64_t stride : {1, 2}) {
        for (const int64_t dilation : {1, 3, 8}) {
          SCOPED_TRACE(absl::StrCat("plane ", size, ", kernel ", kernel,
                                    ", stride ", stride, ", dilation ",
                                    dilation));
          Check(BlockedConv(
              {1, 8, 24, size, kernel, stride, dilation, 1, dilation}, 8, I(1),
              I(size)));
        }
      }
    }
  }
}

// Tiles of a row ask for taps, whose sums wait in registers or in an array.
TEST_P(PaddingTest, ConvolutionsOfPlanesThatARunTells) {
  struct Taps {
    int64_t kernel, stride, dilation;
  };
  for (const auto& [kernel, stride, dilation] : std::vector<Taps>{
           {2, 1, 1}, {3, 2, 1}, {3, 1, 3}, {2, 3, 3}, {3, 1, 8}}) {
    for (const int64_t splits : {0, 1}) {
      const tir::VarPtr h = tir::MakeVar("h"), w = tir::MakeVar("w");
      ConvSize s = {1, 16, 8, 0, kernel, stride, dilation, 1, dilation};
      s.more_pad = stride - 1;
      const Kernel k = BlockedConv(s, 8, I(1), h, w);
      const Schedule schedule =
          Make(k, {{"width", 6}, {"split_channels", splits}});
      ASSERT_TRUE(chosen_);
      for (const auto& [height, width] :
           std::vector<std::pair<int64_t, int64_t>>{
               {1, 1}, {2, 3}, {5, 7}, {3, 20}}) {
        SCOPED_TRACE(absl::StrCat("plane ", height, "x", width, ", kernel ",
                                  kernel, ", stride ", stride, ", dilation ",
                                  dilation, ", splits ", splits));
        ExpectSame(k, schedule, {{h.get(), height}, {w.get(), width}});
      }
    }
  }
}

// Each part of a row is code of its own; a plane's height may be a run's.
TEST_P(PaddingTest, ConvolutionsOfManyPartsAreCopied) {
  Check(BlockedConv({1, 8, 8, 20, 7, 1, 3, 1}, 8, I(1), I(20)), false);
  const Expr height = tir::MakeVar("h");
  const Kernel k = BlockedConv({1, 8, 8, 9, 3, 1, 1, 1}, 8, I(1), height);
  const Schedule schedule = Make(k);
  EXPECT_TRUE(chosen_);
  ExpectSame(k, schedule, {{tir::As<tir::Var>(height), 5}});
}

// Sums leave taps on padding out; padded tiles of maxima end where planes do.
TEST_P(PaddingTest, WindowsOfPlanesThatARunTells) {
  for (const bool pool : {false, true}) {
    for (const auto& [kernel, stride] :
         std::vector<std::pair<int64_t, int64_t>>{
             {2, 3}, {3, 1}, {3, 2}, {5, 1}, {7, 1}, {9, 2}}) {
      const tir::VarPtr h = tir::MakeVar("h"), w = tir::MakeVar("w");
      ConvSize s = {1, 8, 0, 0, kernel, stride, kernel / 2, 1};
      s.more_pad = stride - 1;
      if (kernel == 2) s.dilation = 2;
      const Kernel k = BlockedWindow(s, pool, h, w);
      const Schedule schedule = Make(k);
      EXPECT_EQ(chosen_, !pool);
      for (const auto& [height, width] :
           std::vector<std::pair<int64_t, int64_t>>{
               {1, 1}, {2, 3}, {9, 33}, {5, 70}}) {
        SCOPED_TRACE(absl::StrCat("plane ", height, "x", width, ", kernel ",
                                  kernel, ", stride ", stride,
                                  pool ? ", pool" : ""));
        ExpectSame(k, schedule, {{h.get(), height}, {w.get(), width}});
      }
    }
  }
}

// Sums ask for rows of taps, however many lie on padding.
TEST_P(PaddingTest, WideBordersOfSums) {
  for (const int64_t size : {1, 2, 6, 7, 13, 20, 33}) {
    for (const int64_t kernel : {7, 9}) {
      SCOPED_TRACE(absl::StrCat("plane ", size, ", kernel ", kernel));
      Check(BlockedWindow({1, 8, 0, size, kernel, 1, kernel / 2, 1}, false));
    }
  }
}

// Six rows around a plane would each be code of their own, and each element of
// a large window would be asked for.
TEST_P(PaddingTest, WideBordersAndLargeWindowsOfMaximaAreCopied) {
  Check(BlockedWindow({1, 8, 0, 20, 5, 1, 3, 1}, true), false);
  Check(BlockedWindow({1, 8, 0, 20, 7, 1, 2, 1}, true), false);
}

// The parts of the axis with columns.
std::vector<std::vector<int64_t>> Parts(const ConvSize& s) {
  const Kernel k = BlockedConv(s, 8, I(1), I(s.size));
  auto schedule = Schedule::Create(k.graph, k.outputs);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  std::vector<std::vector<int64_t>> parts;
  for (const Stage* stage : schedule->stages()) {
    const Stage* const pad = FindPad(*schedule, *stage);
    if (pad == nullptr) continue;
    const auto found = WindowParts(*stage, *pad, 3);
    EXPECT_TRUE(found.has_value());
    for (const WindowPart& p : *found)
      parts.push_back({p.begin, p.end, p.taps});
  }
  return parts;
}

TEST(BordersTest, PartsHaveTheSameTapsOnPadding) {
  using P = std::vector<int64_t>;
  EXPECT_THAT(Parts({1, 8, 8, 9, 3, 1, 1, 1}),
              ElementsAre(P{0, 1, 2}, P{1, 8, 3}, P{8, 9, 2}));
  EXPECT_THAT(Parts({1, 8, 8, 9, 3, 2, 1, 1}),
              ElementsAre(P{0, 1, 2}, P{1, 4, 3}, P{4, 5, 2}));
  EXPECT_THAT(Parts({1, 8, 8, 33, 3, 1, 12, 1, 12}),
              ElementsAre(P{0, 12, 2}, P{12, 21, 3}, P{21, 33, 2}));
  EXPECT_THAT(Parts({1, 8, 8, 33, 3, 1, 24, 1, 24}),
              ElementsAre(P{0, 9, 2}, P{9, 24, 1}, P{24, 33, 2}));
  EXPECT_THAT(Parts({1, 8, 8, 33, 3, 1, 36, 1, 36}), ElementsAre(P{0, 33, 1}));
  // Windows of one element are padding or not.
  EXPECT_THAT(Parts({1, 8, 8, 3, 1, 1, 2, 1}),
              ElementsAre(P{0, 2, 0}, P{2, 5, 1}, P{5, 7, 0}));
}

TEST_P(PaddingTest, NoElementOfAWindowIsAskedFor) {
  for (const int64_t kernel : {5, 7}) {
    const std::string text = UnrolledText(
        BlockedWindow({1, 8, 0, 20, kernel, 1, kernel / 2, 1}, false));
    EXPECT_THAT(text, Not(HasSubstr("%pad")));
    EXPECT_THAT(text, Not(HasSubstr("select")));
    EXPECT_THAT(text, Not(HasSubstr("muladd(broadcast(0.0f")));
  }
}

// A window's code is not many times as long where each lane is a statement.
TEST_P(PaddingTest, CodeOfAWindowStaysShort) {
  const std::vector<std::string> parts = absl::StrSplit(
      UnrolledText(BlockedWindow({1, 8, 0, 20, 5, 1, 2, 1}, false)), "muladd");
  EXPECT_LE(parts.size(), 700u);
}

// Nor is one of a tile whose taps all lie on padding or all do not.
TEST_P(PaddingTest, NoElementOfADilatedWindowIsAskedFor) {
  const Kernel k = BlockedConv({1, 16, 16, 20, 3, 1, 8, 1, 8}, 8, I(1), I(20));
  auto func = Lower("f", k.graph, k.inputs, k.outputs, Make(k));
  ASSERT_TRUE(func.ok()) << func.status();
  const std::string text = tir::Print(tir::Simplify(*func));
  EXPECT_THAT(text, Not(HasSubstr("%pad")));
  EXPECT_THAT(text, Not(HasSubstr("select")));
}

INSTANTIATE_TEST_SUITE_P(VectorBits, PaddingTest, testing::Values(0, 256, 512));

}  // namespace
}  // namespace ingot::te::cpu
