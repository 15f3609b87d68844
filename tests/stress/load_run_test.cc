// Many threads that load, run and drop models at once, and share some: results
// stay exact. ThreadSanitizer watches with --config=tsan, AddressSanitizer with
// --config=asan. INGOT_STRESS_SECONDS asks for more than a moment.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "loaders/load.h"
#include "loaders/load_test_support.h"
#include "tests/stress/add_models.h"

namespace ingot {
namespace {

using testing_support::CoreLoaders;

constexpr int kThreads = 16;

class Worker {
 public:
  Worker(uint32_t seed, const std::vector<AddModel>& models,
         const std::vector<LoadedModel>& shared)
      : random_(seed), models_(models), shared_(shared) {}

  // The first thing that went wrong.
  absl::Status Work(std::chrono::steady_clock::time_point end) {
    while (std::chrono::steady_clock::now() < end) {
      const size_t which = random_() % models_.size();
      absl::StatusOr<LoadedModel> model = shared_[which];
      if (random_() % 2 == 0) {
        model = LoadPath(models_[which].library, loaders_);
      }
      if (!model.ok()) return model.status();
      ExecutorOptions options;
      options.threads = 1 + static_cast<int>(random_() % 3);
      auto executor = CreateExecutor(*model, options);
      if (!executor.ok()) return executor.status();
      // The executor keeps what it needs.
      if (random_() % 2 == 0) *model = {};
      for (int i = static_cast<int>(random_() % 4); i >= 0; --i) {
        const float first = static_cast<float>(random_() % 1000);
        absl::Status status =
            RunAddModel(models_[which], first, executor->get());
        if (!status.ok()) return status;
      }
      ++rounds_;
    }
    return absl::OkStatus();
  }

  int rounds() const { return rounds_; }

 private:
  std::mt19937 random_;
  const std::vector<AddModel>& models_;
  const std::vector<LoadedModel>& shared_;
  const LoaderRegistry loaders_ = CoreLoaders();
  int rounds_ = 0;
};

TEST(LoadRunTest, ManyThreadsLoadAndRunAtOnce) {
  const std::vector<AddModel> models = MakeAddModels();
  std::vector<LoadedModel> shared;
  for (const AddModel& model : models) {
    absl::StatusOr<LoadedModel> loaded = LoadPath(model.library, CoreLoaders());
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    shared.push_back(*std::move(loaded));
  }
  const char* const asked = std::getenv("INGOT_STRESS_SECONDS");
  const std::chrono::seconds time(asked == nullptr ? 3 : std::atoi(asked));
  const auto end = std::chrono::steady_clock::now() + time;

  std::vector<Worker> workers;
  for (uint32_t i = 0; i < kThreads; ++i)
    workers.emplace_back(i, models, shared);
  std::vector<absl::Status> done(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { done[i] = workers[i].Work(end); });
  }
  for (std::thread& thread : threads) thread.join();
  int rounds = 0;
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_TRUE(done[i].ok()) << "thread " << i << ": " << done[i];
    rounds += workers[i].rounds();
  }
  EXPECT_GE(rounds, kThreads);
  RecordProperty("rounds", rounds);
  std::printf("%d models loaded or shared, run and dropped\n", rounds);
}

}  // namespace
}  // namespace ingot
