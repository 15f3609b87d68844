#include "runtime/host_api.h"

#include <atomic>
#include <cstdint>

#include "gtest/gtest.h"
#include "runtime/error.h"
#include "runtime/thread_pool.h"

namespace ingot {
namespace {

struct Counts {
  std::atomic<int64_t> sum{0};
  std::atomic<int> calls{0};
};

int Count(void* ctx, int64_t begin, int64_t end) {
  auto* counts = static_cast<Counts*>(ctx);
  counts->sum += end - begin;
  ++counts->calls;
  return 0;
}

TEST(HostApi, SerialWithoutAPool) {
  Counts counts;
  EXPECT_EQ(GetHostApi()->version, INGOT_HOST_API_VERSION);
  EXPECT_EQ(GetHostApi()->parallel_for(&Count, &counts, 9), 0);
  EXPECT_EQ(counts.sum, 9);
  EXPECT_EQ(counts.calls, 1);
  EXPECT_EQ(GetHostApi()->parallel_for(&Count, &counts, 0), 0);
  EXPECT_EQ(GetHostApi()->parallel_for(&Count, &counts, -1), 0);
  EXPECT_EQ(counts.calls, 1);
}

TEST(HostApi, UsesTheCurrentPool) {
  ThreadPool pool(2);
  ScopedThreadPool scope(&pool);
  Counts counts;
  EXPECT_EQ(GetHostApi()->parallel_for(&Count, &counts, 9), 0);
  EXPECT_EQ(counts.sum, 9);
  EXPECT_EQ(counts.calls, 2);
}

TEST(HostApi, SetsErrors) {
  GetHostApi()->set_error("IndexError", "3 of 2");
  EXPECT_EQ(TakeLastErrorAsStatus(), absl::OutOfRangeError("3 of 2"));
  GetHostApi()->set_error(nullptr, nullptr);
  EXPECT_EQ(TakeLastError().kind, "RuntimeError");
}

}  // namespace
}  // namespace ingot
