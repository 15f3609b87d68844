// A process that lives long, forks, or ends in the middle of a run.
#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "loaders/load.h"
#include "loaders/load_test_support.h"
#include "runtime/tensor.h"
#include "runtime/thread_pool.h"
#include "tests/stress/add_models.h"

#if defined(__SANITIZE_ADDRESS__)
#define INGOT_WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INGOT_WITH_ASAN 1
#endif
#endif
#ifdef INGOT_WITH_ASAN
#include <sanitizer/lsan_interface.h>
#endif

namespace ingot {
namespace {

using testing_support::CoreLoaders;

// Pages of memory that the process holds.
int64_t ResidentPages() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident;
}

// Mappings of files and of memory.
int64_t Mappings() {
  std::ifstream file("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

int64_t OpenFiles() {
  int64_t count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

LoadedModel LoadOf(const AddModel& model) {
  const absl::StatusOr<LoadedModel> loaded =
      LoadPath(model.library, CoreLoaders());
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return *loaded;
}

std::unique_ptr<GraphExecutor> ExecutorOf(const LoadedModel& model,
                                          ExecutorOptions options) {
  auto executor = CreateExecutor(model, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

TEST(ProcessTest, TenThousandLoadsLeaveNothing) {
  const std::vector<AddModel> models = MakeAddModels();
  const auto load_and_run = [&](int i) {
    const AddModel& model = models[i % models.size()];
    const LoadedModel loaded = LoadOf(model);
    ASSERT_EQ(RunAddModel(model, i, ExecutorOf(loaded, {}).get()),
              absl::OkStatus());
  };
  // The allocator and the dynamic linker keep what they needed at first.
  for (int i = 0; i < 100; ++i) load_and_run(i);
  [[maybe_unused]] const int64_t pages = ResidentPages();
  const int64_t mappings = Mappings(), files = OpenFiles();
  for (int i = 0; i < 10'000 && !HasFailure(); ++i) load_and_run(i);
  EXPECT_EQ(OpenFiles(), files);
  EXPECT_LE(Mappings(), mappings + 8);
#if !__has_feature(address_sanitizer)  // which keeps what was freed for a while
  // A kilobyte each would be 2,500 pages.
  EXPECT_LE(ResidentPages(), pages + 500);
#endif
}

// Executors, models and tensors that a library's code or memory is behind are
// dropped in every order; what is left works to the end.
TEST(ProcessTest, WhatIsHeldOutlivesTheRest) {
  const std::vector<AddModel> models = MakeAddModels();
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const AddModel& model = models[i % models.size()];
    auto loaded = std::make_unique<LoadedModel>(LoadOf(model));
    auto executor = ExecutorOf(*loaded, {});
    ASSERT_EQ(RunAddModel(model, i, executor.get()), absl::OkStatus());
    absl::StatusOr<Tensor> output = executor->GetOutput(0);
    ASSERT_TRUE(output.ok()) << output.status();
    std::vector<int> order = {0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    for (const int part : order) {
      if (part == 0) loaded.reset();
      if (part == 1) {
        ASSERT_EQ(RunAddModel(model, i, executor.get()), absl::OkStatus());
        executor.reset();
      }
      if (part == 2) {
        EXPECT_EQ(output->data<float>()[0], model.expected(i));
        output = absl::CancelledError();
      }
    }
  }
}

// The exit status of a child that does `body`; -1 if it does not end.
template <typename Body>
int StatusOfChild(const Body& body) {
  const pid_t child = fork();
  if (child == 0) body();
  for (int i = 0; i < 2000; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

// Servers fork workers after they have loaded: the threads of a pool stay with
// the parent, and the child runs without.
TEST(ProcessTest, AForkRunsOnWithoutTheThreadsOfThePool) {
  const std::vector<AddModel> models = MakeAddModels();
  for (int i = 0; i < 100; ++i) {
    const AddModel& model = models[i % models.size()];
    LoadedModel loaded = LoadOf(model);
    ExecutorOptions options;
    options.pool = std::make_shared<ThreadPool>(4);
    auto executor = ExecutorOf(loaded, options);
    options.pool.reset();
    ASSERT_EQ(RunAddModel(model, i, executor.get()), absl::OkStatus());
    // Workers spin for a moment, then sleep: forks meet both.
    if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const int status = StatusOfChild([&] {
      bool good = RunAddModel(model, 7, executor.get()).ok();
      executor.reset();
      ExecutorOptions own;
      own.threads = 3;
      executor = ExecutorOf(loaded, own);
      good = good && RunAddModel(model, 8, executor.get()).ok();
      executor.reset();
      loaded = {};
      _exit(good ? 0 : 1);
    });
    ASSERT_EQ(status, 0) << "round " << i;
    ASSERT_EQ(RunAddModel(model, i, executor.get()), absl::OkStatus());
  }
}

TEST(ProcessTest, ExitsWhileOthersRun) {
  const std::vector<AddModel> models = MakeAddModels();
  for (int i = 0; i < 40; ++i) {
    const int status = StatusOfChild([&] {
      // Threads that never end, on models that live to the end of the process.
      for (const AddModel& model : models) {
        static std::vector<LoadedModel> loaded;
        loaded.push_back(LoadOf(model));
        ExecutorOptions options;
        options.threads = 2;
        std::thread([&model, executor = ExecutorOf(loaded.back(), options)] {
#ifdef INGOT_WITH_ASAN
          // What this thread holds when the process ends is not a leak, and
          // LeakSanitizer can miss a pointer on its way between registers.
          const __lsan::ScopedDisabler running_at_exit;
#endif
          while (RunAddModel(model, 1, executor.get()).ok()) {
          }
          abort();
        }).detach();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + i % 7));
      exit(0);
    });
    ASSERT_EQ(status, 0) << "round " << i;
  }
}

}  // namespace
}  // namespace ingot
