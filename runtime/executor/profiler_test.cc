#include "runtime/executor/profiler.h"

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

TEST(Profiler, RecordsInOrder) {
  Profiler profiler;
  profiler.Record("conv", "Conv_1", 1500, 250);
  std::thread([&] { profiler.Record("relu", "Relu_2", 2000, 7); }).join();
  const auto events = profiler.Events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "conv");
  EXPECT_EQ(events[0].duration_ns, 250);
  EXPECT_EQ(events[0].thread, 0);
  EXPECT_EQ(events[1].thread, 1);
  profiler.Clear();
  EXPECT_TRUE(profiler.Events().empty());
}

TEST(Profiler, WritesChromeTrace) {
  Profiler profiler;
  EXPECT_EQ(profiler.ToChromeTrace(),
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n]}\n");
  profiler.Record("a\"b\\c\n", "x", 1234567, 1002);
  const std::string json = profiler.ToChromeTrace();
  EXPECT_THAT(json, HasSubstr("{\"name\":\"a\\\"b\\\\c\\u000a\""));
  EXPECT_THAT(json, HasSubstr("\"ph\":\"X\",\"ts\":1234.567,\"dur\":1.002,"));
  EXPECT_THAT(json, HasSubstr("\"args\":{\"source\":\"x\"}"));
}

TEST(Profiler, ClockAdvances) {
  Profiler profiler;
  const int64_t a = profiler.Now();
  EXPECT_GE(a, 0);
  EXPECT_GE(profiler.Now(), a);
}

}  // namespace
}  // namespace ingot
