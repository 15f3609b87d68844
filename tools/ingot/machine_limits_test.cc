#include "tools/ingot/machine_limits.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(MachineLimits, AreThoseOfAMachineOfOurTime) {
  const MachineLimits limits = MeasureMachineLimits(1);
  // A core does 8 to 128 operations a cycle, of 0.5 to 6 GHz; a sanitizer or
  // another program on the core takes most of it.
  EXPECT_GT(limits.operations, 1e8);
  EXPECT_LT(limits.operations, 8e11);
  EXPECT_GT(limits.bytes, 1e8);
  EXPECT_LT(limits.bytes, 1e12);
}

TEST(MachineLimits, AreNoLowerBesideOtherPrograms) {
  const double alone = MeasureMachineLimits(1).bytes;
  std::atomic<bool> done(false);
  std::vector<std::thread> others;
  for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); ++i) {
    others.emplace_back([&done] {
      while (!done) {
      }
    });
  }
  const double beside = MeasureMachineLimits(1).bytes;
  done = true;
  for (std::thread& other : others) other.join();
  EXPECT_GT(beside, alone / 3) << "of the time that others have, too";
}

TEST(MachineLimits, ShareIsOfTheLimitThatBinds) {
  const MachineLimits limits = {100e9, 10e9};
  EXPECT_DOUBLE_EQ(ShareOfLimit(limits, 50e9, 1e9, 1), 0.5);
  EXPECT_DOUBLE_EQ(ShareOfLimit(limits, 1e9, 8e9, 2), 0.4);
}

}  // namespace
}  // namespace ingot
