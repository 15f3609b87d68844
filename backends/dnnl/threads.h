// Sets how many threads oneDNN uses. Debian's oneDNN is built on OpenMP, which
// asks the calling thread.
#ifndef INGOT_BACKENDS_DNNL_THREADS_H_
#define INGOT_BACKENDS_DNNL_THREADS_H_

namespace ingot::dnnl_backend {

// The number of threads that whoever runs this thread allows: that of its
// thread pool, or 1. In a process that was forked from one with threads of
// OpenMP it is 1.
int AllowedThreads();

// While it lives, primitives that this thread makes or runs use `threads`
// threads. Primitives keep the number that they were made with.
class ScopedThreads {
 public:
  explicit ScopedThreads(int threads);
  ~ScopedThreads();
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  const int previous_;
};

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_THREADS_H_
