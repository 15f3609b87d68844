// Loops that threads share: that there are enough of them, whatever a kernel's
// sizes, and that they compute the same.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/machine/test_machine.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/lower.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

// The most iterations of an outermost parallel loop; symbolic extents count as
// none.
class SharedIterations : public tir::StmtVisitor {
 public:
  int64_t most = 0;

 protected:
  void VisitFor(const tir::For& node) override {
    if (node.for_kind != tir::ForKind::kParallel) {
      tir::StmtVisitor::VisitFor(node);
      return;
    }
    most = std::max(most, tir::ToAffine(node.extent).AsConst().value_or(0));
  }
};

struct Made {
  Kernel kernel;
  Schedule schedule;
  int64_t shared;
};

Made MakeConv(const ConvSize& size, Expr batch, Expr height) {
  Kernel kernel = BlockedConv(size, 8, batch, height);
  auto schedule = ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(),
                                 TestCpuWithSmallCaches(256));
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  const auto f =
      Lower("f", kernel.graph, kernel.inputs, kernel.outputs, *schedule);
  EXPECT_TRUE(f.ok()) << f.status();
  SharedIterations loops;
  loops.Visit(tir::Simplify(*f).body);
  return {std::move(kernel), *std::move(schedule), loops.most};
}

// Rows and planes of few and many channels, of a number of blocks that tiles
// divide and of one that they do not.
TEST(ThreadsTest, ConvolutionsHaveIterationsToShare) {
  constexpr int64_t kEnough = 8;
  for (const int64_t channels : {8, 16, 40, 232}) {
    for (const int64_t height : {1, 2, 7, 20}) {
      const int64_t width = channels < 100 ? 601 : 49;
      const ConvSize size = {1, 40, channels, width, 1, 1, 0, 1};
      EXPECT_GE(MakeConv(size, I(1), I(height)).shared, kEnough)
          << channels << " channels, " << height << " rows";
    }
  }
}

TEST(ThreadsTest, TilesOfARowAreSharedWhereThereIsLittleElse) {
  for (const int64_t width : {600, 601}) {
    const Made made = MakeConv({1, 16, 16, width, 1, 1, 0, 1}, I(1), I(1));
    EXPECT_GE(made.shared, width / 8);
    ExpectSame(made.kernel, made.schedule);
  }
}

// An unknown number of images may be one.
TEST(ThreadsTest, TilesOfARowAreSharedWithinImages) {
  const tir::VarPtr n = tir::MakeVar("n");
  const Made made = MakeConv({0, 16, 16, 300, 1, 1, 0, 1}, n, I(1));
  EXPECT_GE(made.shared, 30);
  for (const int64_t images : {1, 3}) {
    ExpectSame(made.kernel, made.schedule, {{n.get(), images}});
  }
}

TEST(ThreadsTest, OneRowOfManyBlocksIsSharedByChannels) {
  // 29 blocks: a prime, so that the loop over channels has a tail.
  const Made made = MakeConv({1, 232, 232, 49, 1, 1, 0, 1}, I(1), I(1));
  EXPECT_GE(made.shared, 9);
  EXPECT_LE(made.shared, 29);
  ExpectSame(made.kernel, made.schedule);
}

// Waking threads costs more than such rows take.
TEST(ThreadsTest, SmallTilesAreNotShared) {
  EXPECT_EQ(MakeConv({1, 8, 8, 24, 1, 1, 0, 1}, I(1), I(1)).shared, 0);
}

}  // namespace
}  // namespace ingot::te::cpu
