#include "runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/error.h"

// One loop at a time. The caller publishes it by raising `epoch`; part i of it
// belongs to worker i, which claims it; the caller does part 0, then every part
// whose worker has not come for it yet, so that it never waits for a thread to
// wake up. The partition is the same whoever does a part.

namespace ingot {
namespace {

thread_local ThreadPool* current_pool = nullptr;

// A thread looks for work or for an end so long before it sleeps: about the
// time that waking it takes.
constexpr std::chrono::microseconds kSpin{50};

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits actively until done() or for about kSpin; returns the last done().
template <typename Done>
bool SpinUntil(bool may_spin, Done done) {
  if (done()) return true;
  if (!may_spin) return false;
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      Pause();
      if (done()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

int AvailableCpus() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

struct alignas(64) Slot {
  std::atomic<uint64_t> claimed{0};  // the last epoch whose part was taken
  int result = 0;
  LastError error;
};

// The forks between the first process and this one: workers stay in the process
// that started them.
std::atomic<int> forks{0};

void CountForks() {
  static const int registered = pthread_atfork(
      nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

// The lower bits of an epoch are the number of parts of its loop.
constexpr int kPartBits = 16;
constexpr uint64_t kPartMask = (uint64_t{1} << kPartBits) - 1;

}  // namespace

struct ThreadPool::State {
  struct Start {
    ThreadPool* pool;
    int index;
  };

  alignas(64) std::atomic<uint64_t> epoch{0};
  std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};

  // The loop of this epoch: constant until all its parts are done.
  int (*body)(void*, int64_t, int64_t) = nullptr;
  void* ctx = nullptr;
  int64_t n = 0;

  alignas(64) std::atomic<int> pending{0};
  std::atomic<bool> caller_sleeps{false};
  alignas(64) std::atomic<bool> busy{false};

  bool may_spin = true;
  const int born = forks.load(std::memory_order_relaxed);
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable done;
  std::unique_ptr<Slot[]> slots;
  std::unique_ptr<pthread_t[]> workers;
  std::unique_ptr<Start[]> starts;

  // Whether this is the process of the workers.
  bool HasWorkers() const {
    return born == forks.load(std::memory_order_relaxed);
  }

  bool Claim(int part, uint64_t epoch_word) {
    uint64_t last = slots[part].claimed.load(std::memory_order_relaxed);
    while (last < epoch_word) {
      if (slots[part].claimed.compare_exchange_weak(
              last, epoch_word, std::memory_order_acq_rel)) {
        return true;
      }
    }
    return false;
  }

  void RunPart(int part, int parts) {
    const int64_t size = n / parts;
    const int64_t larger = n % parts;  // parts that are one larger
    const int64_t begin = part * size + std::min<int64_t>(part, larger);
    const int64_t end = begin + size + (part < larger ? 1 : 0);
    Slot& slot = slots[part];
    slot.result = body(ctx, begin, end);
    if (slot.result != 0) slot.error = TakeLastError();
  }
};

ThreadPool::ThreadPool(int threads)
    : threads_(std::min(std::max(threads, 1), kMaxThreads)) {
  if (threads_ == 1) return;
  CountForks();
  state_ = std::make_unique<State>();
  State& state = *state_;
  state.may_spin = threads_ <= AvailableCpus();
  state.slots = std::make_unique<Slot[]>(threads_);
  state.workers = std::make_unique<pthread_t[]>(threads_);
  state.starts = std::make_unique<State::Start[]>(threads_);
  int started = 1;
  while (started < threads_) {
    State::Start* start = &state.starts[started];
    *start = {this, started};
    auto run = [](void* arg) -> void* {
      auto* start = static_cast<State::Start*>(arg);
      start->pool->Work(start->index);
      return nullptr;
    };
    if (pthread_create(&state.workers[started], nullptr, run, start) != 0) {
      break;
    }
    ++started;
  }
  threads_ = started;  // workers do not read it
}

ThreadPool::~ThreadPool() {
  if (state_ == nullptr) return;
  if (!state_->HasWorkers()) {
    // The mutex may be locked by, and the condition wait for, threads that are
    // not here: what they share can only be left alone.
    static_cast<void>(state_.release());
    return;
  }
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stop.store(true);
  }
  state_->work.notify_all();
  for (int i = 1; i < threads_; ++i) {
    pthread_join(state_->workers[i], nullptr);
  }
}

void ThreadPool::Work(int index) {
  State& state = *state_;
  uint64_t seen = 0;
  for (;;) {
    auto news = [&] {
      return state.epoch.load(std::memory_order_acquire) != seen ||
             state.stop.load(std::memory_order_relaxed);
    };
    if (!SpinUntil(state.may_spin, news)) {
      std::unique_lock<std::mutex> lock(state.mutex);
      // In this order, as the caller raises the epoch before it looks for
      // sleepers: one of the two sees the other.
      state.sleepers.fetch_add(1);
      while (state.epoch.load() == seen && !state.stop.load()) {
        state.work.wait(lock);
      }
      state.sleepers.fetch_sub(1);
    }
    if (state.stop.load()) return;
    seen = state.epoch.load(std::memory_order_acquire);
    const int parts = static_cast<int>(seen & kPartMask);
    if (index >= parts || !state.Claim(index, seen)) continue;
    // While a claimed part is pending the loop stays as it is.
    state.RunPart(index, parts);
    if (state.pending.fetch_sub(1) == 1 && state.caller_sleeps.load()) {
      std::lock_guard<std::mutex> lock(state.mutex);
      state.done.notify_one();
    }
  }
}

int ThreadPool::ParallelFor(int (*body)(void*, int64_t, int64_t), void* ctx,
                            int64_t n) {
  if (n <= 0) return 0;
  if (threads_ == 1 || n == 1 || !state_->HasWorkers() ||
      state_->busy.exchange(true, std::memory_order_acquire)) {
    return body(ctx, 0, n);
  }
  State& state = *state_;
  const int parts = static_cast<int>(std::min<int64_t>(n, threads_));
  state.body = body;
  state.ctx = ctx;
  state.n = n;
  state.pending.store(parts - 1, std::memory_order_relaxed);
  const uint64_t epoch =
      (((state.epoch.load(std::memory_order_relaxed) >> kPartBits) + 1)
       << kPartBits) |
      static_cast<uint64_t>(parts);
  state.epoch.store(epoch);
  if (state.sleepers.load() > 0) {
    // Taking the lock waits for a worker that is about to sleep.
    state.mutex.lock();
    state.mutex.unlock();
    state.work.notify_all();
  }

  state.RunPart(0, parts);
  for (int part = 1; part < parts; ++part) {
    if (!state.Claim(part, epoch)) continue;
    state.RunPart(part, parts);
    state.pending.fetch_sub(1);
  }
  auto finished = [&] {
    return state.pending.load(std::memory_order_acquire) == 0;
  };
  if (!SpinUntil(state.may_spin, finished)) {
    std::unique_lock<std::mutex> lock(state.mutex);
    state.caller_sleeps.store(true);
    while (state.pending.load() != 0) state.done.wait(lock);
    state.caller_sleeps.store(false);
  }

  int result = 0;
  for (int part = 0; part < parts; ++part) {
    Slot& slot = state.slots[part];
    if (slot.result == 0) continue;
    LastError error = std::exchange(slot.error, LastError());
    if (result != 0) continue;
    result = slot.result;
    if (!error.kind.empty()) SetLastError(error.kind, error.message);
  }
  state.busy.store(false, std::memory_order_release);
  return result;
}

ThreadPool* ThreadPool::Current() { return current_pool; }

ScopedThreadPool::ScopedThreadPool(ThreadPool* pool) : previous_(current_pool) {
  current_pool = pool;
}

ScopedThreadPool::~ScopedThreadPool() { current_pool = previous_; }

}  // namespace ingot
