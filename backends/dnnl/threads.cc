#include "backends/dnnl/threads.h"

#include "runtime/thread_pool.h"

// From OpenMP's <omp.h>, which comes with compilers and not with runtimes.
extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace ingot::dnnl_backend {

int AllowedThreads() {
  const ThreadPool* pool = ThreadPool::Current();
  return pool == nullptr ? 1 : pool->threads();
}

ScopedThreads::ScopedThreads(int threads) : previous_(omp_get_max_threads()) {
  if (threads != previous_) omp_set_num_threads(threads);
}

ScopedThreads::~ScopedThreads() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
}

}  // namespace ingot::dnnl_backend
