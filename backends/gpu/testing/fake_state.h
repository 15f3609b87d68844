// The state of a fake driver, which the files of its functions share.
#ifndef INGOT_BACKENDS_GPU_TESTING_FAKE_STATE_H_
#define INGOT_BACKENDS_GPU_TESTING_FAKE_STATE_H_

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

// NAME(cuMemAlloc_v2, hipMalloc) is the name in the library that this becomes.
#ifdef INGOT_FAKE_HIP
#define NAME(cuda, hip) hip
#else
#define NAME(cuda, hip) cuda
#endif
#define EXPORT extern "C" __attribute__((visibility("default")))

namespace ingot::isa::ptx {
struct Module;
}

namespace fake_driver {

enum Code {
  kOk = 0,
  kInvalidValue = 1,
  kInvalidImage = 200,
  kNoContext = 201,
  kNotFound = 500,
  kCannotBeRecorded = 900
};

struct FakeKernel {
  std::string name;
  std::vector<bool> parameters;  // whether each is an address
  int shared_by_launch = 0;      // bytes, at most
  // The decoded code, of a driver that computes kernels.
  std::shared_ptr<const ingot::isa::ptx::Module> module;
};

struct FakeCode {
  std::string image;
  std::map<std::string, FakeKernel> kernels;
  std::shared_ptr<const ingot::isa::ptx::Module> module;
};

// PTX becomes itself with a word before it.
struct FakeLink {
  std::string binary;
  char* log = nullptr;
};

// Work that is done as often as it is queued.
struct FakeGraph {
  std::vector<std::function<int()>> work;
  bool is_broken = false;
};

// Its work runs when somebody waits for it. Once some has failed, the rest is
// dropped until that was told.
struct FakeStream {
  std::deque<std::function<int()>> work;
  int64_t added = 0, done = 0;
  int failed = 0;
  std::unique_ptr<FakeGraph> recording;

  void Add(std::function<int()> what) {
    if (recording != nullptr) {
      recording->work.push_back(std::move(what));
      return;
    }
    work.push_back(std::move(what));
    ++added;
  }
  void RunUpTo(int64_t count) {
    while (done < count) {
      if (failed == 0) failed = work.front()();
      work.pop_front();
      ++done;
    }
  }
};

// A moment of a stream; of none, the past.
struct FakeEvent {
  std::shared_ptr<FakeStream> stream;
  int64_t count = 0;

  int Wait() {
    if (stream == nullptr) return 0;
    stream->RunUpTo(count);
    return stream->failed;
  }
};

struct State {
  std::mutex mutex;
  std::string log, log_given;
  std::map<std::string, int> failing;
  std::map<void*, size_t> blocks;
  std::map<void*, std::unique_ptr<FakeCode>> codes;
  std::map<void*, std::unique_ptr<FakeLink>> links;
  std::map<void*, std::shared_ptr<FakeStream>> streams;
  std::map<void*, std::shared_ptr<FakeEvent>> events;
  std::map<void*, std::unique_ptr<FakeGraph>> graphs, graph_runs;
  void (*run)(const char*, size_t, void* const*) = nullptr;
  bool computes = false;
};

// INGOT_FAKE_CUDA=compute is what FakeDriverCompute(true) is.
inline State& S() {
  static auto* const state = [] {
    auto* const made = new State;
    const char* const does = std::getenv("INGOT_FAKE_CUDA");
    made->computes = does != nullptr && std::string(does) == "compute";
    return made;
  }();
  return *state;
}

// Real drivers refuse a thread that has not said which device it means. Others
// than the fake's own are those of other devices.
inline thread_local void* current_context = nullptr;

// The code that the function shall give, without doing its work; kOk: none.
inline int Fails(const char* function, bool needs_context = true) {
  if (needs_context && current_context != &S()) return kNoContext;
  const auto failing = S().failing.find(function);
  if (failing == S().failing.end()) return kOk;
  const int code = failing->second;
  S().failing.erase(failing);
  return code;
}

#define BEGIN(cuda, hip, needs_context)              \
  const std::lock_guard<std::mutex> lock(S().mutex); \
  if (const int code = Fails(NAME(#cuda, #hip), needs_context)) return code

inline FakeStream* StreamOf(void* handle) {
  const auto found = S().streams.find(handle);
  return found == S().streams.end() ? nullptr : found->second.get();
}

}  // namespace fake_driver

#endif  // INGOT_BACKENDS_GPU_TESTING_FAKE_STATE_H_
