#ifndef INGOT_RUNTIME_THREAD_POOL_H_
#define INGOT_RUNTIME_THREAD_POOL_H_

#include <cstdint>
#include <memory>

namespace ingot {

// Threads that share the iterations of a loop. The calling thread is one of
// them: a pool of one has no thread of its own and runs everything serially.
//
// Any thread may call ParallelFor; while one call is under way another one, of
// another thread or from inside a body, runs serially on its own thread. Idle
// workers spin for a moment (loops often follow each other closely), then
// sleep. Workers are bound to no core. Destroy it when no call is under way.
//
// In a process that was forked after the pool was made, the pool is there and
// its workers are not: it runs everything serially.
class ThreadPool {
 public:
  // `threads` counts the caller; less than 1 is 1. More than kMaxThreads is
  // kMaxThreads. A thread that the system refuses is done without.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  static constexpr int kMaxThreads = 1024;

  // The number of threads that take part, the caller included.
  int threads() const { return threads_; }

  // Calls body(ctx, begin, end) over disjoint, non-empty ranges that cover
  // [0, n): min(n, threads()) ranges in order, as even as can be. Returns when
  // all are done: 0, or the first non-zero answer in the order of ranges, whose
  // SetLastError is then this thread's error.
  int ParallelFor(int (*body)(void* ctx, int64_t begin, int64_t end), void* ctx,
                  int64_t n);

  // The same for a C++ callable int(int64_t begin, int64_t end).
  template <typename Body>
  int ParallelFor(int64_t n, Body&& body) {
    auto* address = &body;
    return ParallelFor(
        [](void* ctx, int64_t begin, int64_t end) -> int {
          return (*static_cast<decltype(address)>(ctx))(begin, end);
        },
        const_cast<void*>(static_cast<const void*>(address)), n);
  }

  // The pool that the innermost ScopedThreadPool of this thread names, or null.
  static ThreadPool* Current();

 private:
  friend class ScopedThreadPool;
  struct State;

  void Work(int index);

  int threads_ = 1;
  std::unique_ptr<State> state_;
};

// Makes `pool` (null: serial) the one that generated code on this thread finds
// through IngotHostApi, until it goes out of scope. `pool` must outlive it.
class ScopedThreadPool {
 public:
  explicit ScopedThreadPool(ThreadPool* pool);
  ~ScopedThreadPool();
  ScopedThreadPool(const ScopedThreadPool&) = delete;
  ScopedThreadPool& operator=(const ScopedThreadPool&) = delete;

 private:
  ThreadPool* previous_;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_THREAD_POOL_H_
