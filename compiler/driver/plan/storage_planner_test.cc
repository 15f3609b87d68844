#include "compiler/driver/plan/storage_planner.h"

#include <algorithm>
#include <random>
#include <vector>

#include "base/alignment.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

StorageRequest Bytes(int64_t bytes, int first, int last) {
  return {tir::MakeInt(bytes), first, last};
}

int64_t SizeOf(const StoragePlan& plan, int storage) {
  int64_t size = 0;
  EXPECT_TRUE(tir::AsConstInt(plan.storages[storage][0], &size));
  return size;
}

TEST(StoragePlannerTest, DisjointLivesShare) {
  const StoragePlan plan =
      AssignStorage({Bytes(100, 0, 1), Bytes(100, 1, 2), Bytes(100, 2, 3)});
  ASSERT_EQ(plan.storages.size(), 1u);
  EXPECT_EQ(SizeOf(plan, 0), 256);  // two at a time, each rounded up to 128
  EXPECT_EQ(plan.assignments[0].offset, plan.assignments[2].offset);
  EXPECT_NE(plan.assignments[0].offset, plan.assignments[1].offset);
}

TEST(StoragePlannerTest, NeverOverlapsAndIsNearTheLowerBound) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<StorageRequest> requests;
    std::vector<int64_t> sizes;
    for (int i = 0; i < 40; ++i) {
      const int first = random() % 30;
      sizes.push_back(1 + random() % 5000);
      requests.push_back(Bytes(sizes.back(), first, first + random() % 6));
    }
    const StoragePlan plan = AssignStorage(requests);
    int64_t busiest = 0;
    for (int t = 0; t < 40; ++t) {
      int64_t live = 0;
      for (int i = 0; i < 40; ++i) {
        if (requests[i].first <= t && t <= requests[i].last) live += sizes[i];
      }
      busiest = std::max(busiest, live);
    }
    EXPECT_LE(SizeOf(plan, 0), busiest * 3 / 2 + 40 * int64_t{kAlignment});
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(plan.assignments[i].offset % int64_t{kAlignment}, 0);
      EXPECT_LE(plan.assignments[i].offset + sizes[i], SizeOf(plan, 0));
      for (int j = 0; j < i; ++j) {
        const bool together = requests[i].first <= requests[j].last &&
                              requests[j].first <= requests[i].last;
        const int64_t a = plan.assignments[i].offset;
        const int64_t b = plan.assignments[j].offset;
        if (together) EXPECT_TRUE(a + sizes[i] <= b || b + sizes[j] <= a);
      }
    }
  }
}

TEST(StoragePlannerTest, SymbolicSizesShareByLife) {
  const tir::Expr n = tir::MakeVar("n");
  const StoragePlan plan = AssignStorage(
      {{n * 4, 0, 1}, {n * 8, 1, 2}, {n * 4, 2, 3}, Bytes(64, 0, 3)});
  ASSERT_EQ(plan.storages.size(), 3u);  // constants, and two symbolic ones
  EXPECT_EQ(plan.assignments[0].storage, plan.assignments[2].storage);
  EXPECT_NE(plan.assignments[0].storage, plan.assignments[1].storage);
  // Equal sizes are listed once.
  EXPECT_EQ(plan.storages[plan.assignments[0].storage].size(), 1u);
}

TEST(StoragePlannerTest, NothingNeedsNothing) {
  EXPECT_TRUE(AssignStorage({}).storages.empty());
}

}  // namespace
}  // namespace ingot
