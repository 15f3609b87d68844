#include "backends/dnnl/threads.h"

#include <pthread.h>

#include <atomic>

#include "runtime/thread_pool.h"

// From OpenMP's <omp.h>, which comes with compilers and not with runtimes.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace ingot::dnnl_backend {
namespace {

// OpenMP's threads stay in the process that started them. In one that is forked
// from it, OpenMP would wait for them for ever.
std::atomic<bool> has_threads{false};
std::atomic<bool> lost_threads{false};

void NoteThreads() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    if (has_threads.load()) lost_threads.store(true);
  });
  static_cast<void>(registered);
  has_threads.store(true);
}

}  // namespace

int AllowedThreads() {
  const ThreadPool* pool = ThreadPool::Current();
  return pool == nullptr || lost_threads.load() ? 1 : pool->threads();
}

ScopedThreads::ScopedThreads(int threads) : previous_(omp_get_max_threads()) {
  if (lost_threads.load()) threads = 1;
  if (threads > 1) NoteThreads();
  if (threads != previous_) omp_set_num_threads(threads);
}

ScopedThreads::~ScopedThreads() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
}

}  // namespace ingot::dnnl_backend
