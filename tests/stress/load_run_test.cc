// Many threads that load, run and drop models at once, and share some: results
// stay exact. ThreadSanitizer watches with --config=tsan, AddressSanitizer with
// --config=asan. INGOT_STRESS_SECONDS asks for more than a moment.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "artifact/container.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "loaders/load_test_support.h"
#include "loaders/native/linker.h"

namespace ingot {
namespace {

using testing_support::AddSet;
using testing_support::CoreLoaders;
using testing_support::kAddSource;
using testing_support::TestFile;

constexpr int kThreads = 16;
constexpr int kElements = 3;

// The loop of AddSet's kernel becomes one that several threads run.
constexpr char kParallel[] = R"(
typedef struct {
  int32_t version;
  int (*parallel_for)(int (*)(void *, int64_t, int64_t), void *, int64_t);
  void (*set_error)(const char *, const char *);
} HostApi;
__attribute__((weak, visibility("default"))) const HostApi *__ingot_host_api;
typedef struct { const Tensor *a, *b, *c; } Work;
static int Part(void *ctx, int64_t begin, int64_t end) {
  const Work *w = ctx;
  for (int64_t i = begin; i < end; ++i)
    ((float *)w->c->data)[i] = ((float *)w->a->data)[i] OP ((float *)w->b->data)[0];
  return 0;
}
int __tvm_ffi_add(void *self, const Any *args, int32_t n, Any *result) {
  Work work = {args[0].ptr, args[1].ptr, args[2].ptr};
  return __ingot_host_api->parallel_for(Part, &work, work.a->shape[0]);
}
)";

struct Model {
  float (*expected)(float);
  std::string container;
  std::string library;
};

std::string Source(const std::string& op, bool parallel) {
  std::string source = kAddSource;
  if (!parallel) return absl::StrReplaceAll(source, {{"[i] + ", "[i] " + op}});
  source.resize(source.find("int __tvm_ffi_add"));
  return source + absl::StrReplaceAll(kParallel, {{"OP ", op}});
}

Model MakeModel(const std::string& name, const std::string& op, bool parallel,
                float (*expected)(float)) {
  Model model = {expected, TestFile(name + ".ingot"), TestFile(name + ".so")};
  const ArtifactSet set = AddSet(Source(op, parallel));
  EXPECT_TRUE(WriteContainer(set, model.container).ok());
  const absl::Status linked = LinkLibrary(set, model.library);
  EXPECT_TRUE(linked.ok()) << linked;
  return model;
}

class Worker {
 public:
  Worker(uint32_t seed, const std::vector<Model>& models,
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
        absl::Status status = Run(executor->get(), models_[which]);
        if (!status.ok()) return status;
      }
      ++rounds_;
    }
    return absl::OkStatus();
  }

  int rounds() const { return rounds_; }

 private:
  absl::Status Run(GraphExecutor* executor, const Model& model) {
    Tensor x = *Tensor::Empty(DataType::Float(32), {kElements});
    for (int i = 0; i < kElements; ++i) {
      x.mutable_data<float>()[i] = static_cast<float>(random_() % 1000);
    }
    auto out = executor->Run({x});
    if (!out.ok()) return out.status();
    for (int i = 0; i < kElements; ++i) {
      const float want = model.expected(x.data<float>()[i]);
      if ((*out)[0].data<float>()[i] != want) {
        return absl::DataLossError(absl::StrCat(model.library, ": ",
                                                (*out)[0].data<float>()[i],
                                                " and not ", want));
      }
    }
    return absl::OkStatus();
  }

  std::mt19937 random_;
  const std::vector<Model>& models_;
  const std::vector<LoadedModel>& shared_;
  const LoaderRegistry loaders_ = CoreLoaders();
  int rounds_ = 0;
};

TEST(LoadRunTest, ManyThreadsLoadAndRunAtOnce) {
  const std::vector<Model> models = {
      MakeModel("plus", "+ ", false, [](float x) { return x + 10; }),
      MakeModel("minus", "- ", false, [](float x) { return x - 10; }),
      MakeModel("times", "* ", true, [](float x) { return x * 10; }),
      MakeModel("plus_parallel", "+ ", true, [](float x) { return x + 10; }),
  };
  std::vector<LoadedModel> shared;
  for (const Model& model : models) {
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
