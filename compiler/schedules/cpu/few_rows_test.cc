// Products of few rows with packed weights take several panels side by side.
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

class FewRowsTest : public testing::TestWithParam<int> {
 protected:
  // The columns of a panel.
  int64_t Width(int64_t n) const { return PanelWidth(machine_, kF32, n); }
  int64_t lanes() const { return std::max(1, machine_.lanes(32)); }

  // Runs the product and returns the tile that it took.
  ScheduleChoice Tile(const MatmulSize& size) {
    SCOPED_TRACE(testing::Message() << size.batch << " * " << size.m << " x "
                                    << size.n << " x " << size.k);
    const Kernel kernel = PackedProduct(size, Width(size.n));
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

TEST_P(FewRowsTest, TakePanelsSideBySide) {
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
TEST_P(FewRowsTest, TakeOnePanelOfFewColumns) {
  const int64_t n = 4 * lanes();
  EXPECT_EQ(Tile({1, 1, n, 9}).Get("vectors"),
            std::max<int64_t>(1, Width(n) / lanes()));
}

TEST_P(FewRowsTest, OfAnyNumber) {
  for (int64_t m = 1; m <= 14; ++m) {
    EXPECT_LE(Tile({1, m, 300, 7}).Get("rows"), m);
    EXPECT_LE(Tile({m, 1, 300, 8}).Get("rows"), m);
  }
}

INSTANTIATE_TEST_SUITE_P(VectorBits, FewRowsTest,
                         testing::Values(0, 128, 256, 512));

}  // namespace
}  // namespace ingot::te::cpu
