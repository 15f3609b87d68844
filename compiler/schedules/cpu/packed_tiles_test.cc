// The tiles of products with packed weights.
#include <cstdint>
#include <set>
#include <string>

#include "compiler/machine/test_machine.h"
#include "compiler/schedules/cpu/layouts.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

class PackedTilesTest : public testing::TestWithParam<int> {
 protected:
  // The columns of a panel.
  int64_t Width(int64_t n) const {
    return PanelWidth(machine_, kF32, {0, n, 0});
  }
  int64_t lanes() const { return std::max(1, machine_.lanes(32)); }

  // Runs the product, by panels as wide as those of any product unless said,
  // and returns the tile that it took.
  ScheduleChoice Tile(const MatmulSize& size, int64_t width = 0) {
    SCOPED_TRACE(testing::Message() << size.batch << " * " << size.m << " x "
                                    << size.n << " x " << size.k);
    const Kernel kernel =
        PackedProduct(size, width == 0 ? Width(size.n) : width);
    ScheduleChoice tile;
    const auto schedule =
        ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(), machine_,
                       [&](const ScheduleTemplate& t, const ScheduleSite&,
                           const ScheduleChoice& cheapest) {
                         if (t.name == "cpu.matmul") tile = cheapest;
                         return cheapest;
                       });
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    if (schedule.ok()) ExpectSame(kernel, *schedule);
    return tile;
  }

  const MachineModel machine_ = TestCpuWithSmallCaches(GetParam());
};

TEST_P(PackedTilesTest, OfFewRowsTakePanelsSideBySide) {
  // Whole tiles, a panel, and a part of one more than these.
  for (const int64_t n : {1024, 1040, 1001, 1023}) {
    const int64_t panel = std::max<int64_t>(1, Width(n) / lanes());
    const ScheduleChoice one = Tile({1, 1, n, 9});
    EXPECT_EQ(one.Get("rows"), 1);
    EXPECT_EQ(one.Get("vectors"), 8 / panel * panel);
    EXPECT_GE(Tile({1, 2, n, 9}).Get("vectors"), panel);
    EXPECT_EQ(Tile({1, 60, n, 5}).Get("vectors"), panel);
  }
}

// Threads need tiles to share.
TEST_P(PackedTilesTest, OfFewColumnsTakeOnePanel) {
  const int64_t n = 4 * lanes();
  EXPECT_EQ(Tile({1, 1, n, 9}).Get("vectors"),
            std::max<int64_t>(1, Width(n) / lanes()));
}

// Two panels and what else tiles of rows read stay in the second-level cache,
// which has 4 KiB here.
TEST_P(PackedTilesTest, OfManyRowsTakeShortPanels) {
  constexpr int64_t m = 49, n = 1024, k = 8, kColumnBytes = 4 * k;
  const int64_t width = PanelWidth(machine_, kF32, {m, n, kColumnBytes});
  EXPECT_LE(width * kColumnBytes, std::max<int64_t>(1024, 64 * lanes()));
  EXPECT_EQ(Tile({1, m, n, k}, width).Get("vectors"), width / lanes());
  // A few rows read each weight once, however wide panels are, and of rows that
  // only a run knows there may be a few.
  for (const int64_t rows : {0, 1, 6}) {
    EXPECT_EQ(PanelWidth(machine_, kF32, {rows, n, kColumnBytes}), Width(n));
  }
}

// Tiles of 12 rows of two vectors would leave a row for the last one.
TEST_P(PackedTilesTest, OfManyRowsAreOfOneSize) {
  if (lanes() < 2) return;
  const int64_t width = 2 * lanes();
  EXPECT_EQ(Tile({1, 49, width, 8}, width).Get("rows"),
            machine_.vector_registers >= 32 ? 10 : 6);
  EXPECT_EQ(Tile({1, 48, width, 8}, width).Get("rows"),
            machine_.vector_registers >= 32 ? 12 : 6);
}

TEST_P(PackedTilesTest, OfAnyNumberOfRows) {
  for (int64_t m = 1; m <= 14; ++m) {
    EXPECT_LE(Tile({1, m, 300, 7}).Get("rows"), m);
    EXPECT_LE(Tile({m, 1, 300, 8}).Get("rows"), m);
  }
}

INSTANTIATE_TEST_SUITE_P(VectorBits, PackedTilesTest,
                         testing::Values(0, 128, 256, 512));

}  // namespace
}  // namespace ingot::te::cpu
