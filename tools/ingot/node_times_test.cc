#include "tools/ingot/node_times.h"

#include "gtest/gtest.h"

namespace ingot {
namespace {

Profiler::Event At(const char* name, const char* source, int64_t start,
                   int64_t end) {
  Profiler::Event event;
  event.name = name;
  event.source = source;
  event.start_ns = start;
  event.duration_ns = end - start;
  return event;
}

TEST(TimesOfRun, TimeInsideOfOthersCountsOnce) {
  // As the executor records them: when they end.
  const std::vector<NodeTime> times = TimesOfRun({
      At("conv", "c1", 10, 40),
      At("body_add", "a", 52, 60),
      At("body", "", 51, 63),
      At("body_add", "a", 65, 70),
      At("body", "", 64, 72),
      At("loop", "l", 50, 80),
      At("conv", "c2", 80, 90),
      At("model", "", 0, 100),
  });
  ASSERT_EQ(times.size(), 6u);
  const auto expect = [&](size_t i, const char* function, int calls,
                          double nanoseconds) {
    EXPECT_EQ(times[i].function, function);
    EXPECT_EQ(times[i].calls, calls);
    EXPECT_NEAR(times[i].seconds * 1e9, nanoseconds, 1e-6) << function;
  };
  expect(0, "model", 1, 100 - 30 - 30 - 10);
  expect(1, "conv", 1, 30);
  EXPECT_EQ(times[1].source, "c1");
  expect(2, "loop", 1, 30 - 12 - 8);
  expect(3, "body", 2, 12 - 8 + 8 - 5);
  expect(4, "body_add", 2, 13);
  expect(5, "conv", 1, 10);
}

TEST(TimesOfRun, OfNothingIsNothing) { EXPECT_TRUE(TimesOfRun({}).empty()); }

}  // namespace
}  // namespace ingot
