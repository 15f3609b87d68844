#include "runtime/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/error.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::vector<std::pair<int64_t, int64_t>> Ranges(ThreadPool* pool, int64_t n) {
  std::mutex mutex;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  EXPECT_EQ(pool->ParallelFor(n,
                              [&](int64_t begin, int64_t end) {
                                std::lock_guard<std::mutex> lock(mutex);
                                ranges.emplace_back(begin, end);
                                return 0;
                              }),
            0);
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

TEST(ThreadPool, OneThreadRunsInPlace) {
  ThreadPool pool(1);
  EXPECT_EQ(pool.threads(), 1);
  const auto self = std::this_thread::get_id();
  EXPECT_EQ(pool.ParallelFor(10,
                             [&](int64_t begin, int64_t end) {
                               EXPECT_EQ(std::this_thread::get_id(), self);
                               EXPECT_EQ(begin, 0);
                               EXPECT_EQ(end, 10);
                               return 0;
                             }),
            0);
}

TEST(ThreadPool, PartitionIsStaticAndEven) {
  ThreadPool pool(3);
  EXPECT_THAT(Ranges(&pool, 10),
              ElementsAre(Pair(0, 4), Pair(4, 7), Pair(7, 10)));
  EXPECT_THAT(Ranges(&pool, 2), ElementsAre(Pair(0, 1), Pair(1, 2)));
  EXPECT_THAT(Ranges(&pool, 1), ElementsAre(Pair(0, 1)));
  EXPECT_THAT(Ranges(&pool, 0), ElementsAre());
  EXPECT_THAT(Ranges(&pool, -5), ElementsAre());
  const int64_t most = INT64_MAX;
  const auto all = Ranges(&pool, most);
  EXPECT_EQ(all.front().first, 0);
  EXPECT_EQ(all.back().second, most);
}

TEST(ThreadPool, BadThreadCounts) {
  EXPECT_EQ(ThreadPool(0).threads(), 1);
  EXPECT_EQ(ThreadPool(-3).threads(), 1);
}

TEST(ThreadPool, ManyLoopsEachElementOnce) {
  for (int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    std::vector<int> counts(1000);
    for (int round = 0; round < 2000; ++round) {
      const int64_t n = round % 37 + 1;
      pool.ParallelFor(n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++counts[i];
        return 0;
      });
    }
    int64_t sum = 0;
    for (int count : counts) sum += count;
    int64_t expected = 0;
    for (int round = 0; round < 2000; ++round) expected += round % 37 + 1;
    EXPECT_EQ(sum, expected);
  }
}

TEST(ThreadPool, SleepersWakeUp) {
  ThreadPool pool(4);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(Ranges(&pool, 4).size(), 4u);
  }
}

TEST(ThreadPool, WorkersHelp) {
  ThreadPool pool(2);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  // Each part waits for the other one, so no thread can do both.
  std::atomic<int> here{0};
  pool.ParallelFor(2, [&](int64_t, int64_t) {
    ++here;
    while (here.load() < 2) std::this_thread::yield();
    std::lock_guard<std::mutex> lock(mutex);
    ids.insert(std::this_thread::get_id());
    return 0;
  });
  EXPECT_EQ(ids.size(), 2u);
}

TEST(ThreadPool, SlowPartsAreWaitedFor) {
  ThreadPool pool(3);
  std::atomic<int> done{0};
  pool.ParallelFor(3, [&](int64_t begin, int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * begin));
    ++done;
    return 0;
  });
  EXPECT_EQ(done.load(), 3);
}

TEST(ThreadPool, FirstErrorInOrderWithItsText) {
  ThreadPool pool(4);
  for (int round = 0; round < 50; ++round) {
    const int result = pool.ParallelFor(4, [](int64_t begin, int64_t) -> int {
      if (begin < 2) return 0;
      SetLastError("ValueError", absl::StrCat("part ", begin));
      return static_cast<int>(-begin);
    });
    EXPECT_EQ(result, -2);
    EXPECT_EQ(TakeLastError().message, "part 2");
    EXPECT_EQ(TakeLastError().kind, "");
  }
}

TEST(ThreadPool, NestedLoopsRunSerially) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  pool.ParallelFor(3, [&](int64_t, int64_t) {
    const auto self = std::this_thread::get_id();
    int calls = 0;
    pool.ParallelFor(100, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++calls;
      sum += end - begin;
      return 0;
    });
    EXPECT_EQ(calls, 1);
    return 0;
  });
  EXPECT_EQ(sum.load(), 300);
}

TEST(ThreadPool, SharedByTwoThreads) {
  ThreadPool pool(2);
  auto work = [&pool] {
    for (int round = 0; round < 500; ++round) {
      std::atomic<int64_t> sum{0};
      pool.ParallelFor(10, [&](int64_t begin, int64_t end) {
        sum += end - begin;
        return 0;
      });
      ASSERT_EQ(sum.load(), 10);
    }
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(ThreadPool, CurrentIsScoped) {
  EXPECT_EQ(ThreadPool::Current(), nullptr);
  ThreadPool outer(1);
  ThreadPool inner(2);
  {
    ScopedThreadPool a(&outer);
    EXPECT_EQ(ThreadPool::Current(), &outer);
    {
      ScopedThreadPool b(&inner);
      EXPECT_EQ(ThreadPool::Current(), &inner);
      std::thread([] { EXPECT_EQ(ThreadPool::Current(), nullptr); }).join();
    }
    EXPECT_EQ(ThreadPool::Current(), &outer);
  }
  EXPECT_EQ(ThreadPool::Current(), nullptr);
}

}  // namespace
}  // namespace ingot
