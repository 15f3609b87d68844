#ifndef INGOT_RUNTIME_EXECUTOR_PROFILER_H_
#define INGOT_RUNTIME_EXECUTOR_PROFILER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace ingot {

// A record of when each call ran, kept by an executor that was given one.
// Thread-safe: several executors may share one.
class Profiler {
 public:
  struct Event {
    std::string name;      // the function
    std::string source;    // the model's nodes that it computes
    int64_t start_ns = 0;  // since the profiler was made
    int64_t duration_ns = 0;
    int32_t thread = 0;  // small numbers in order of appearance
  };

  Profiler();

  // Nanoseconds since it was made; a steady clock.
  int64_t Now() const;

  // Adds one event of the calling thread.
  void Record(absl::string_view name, absl::string_view source,
              int64_t start_ns, int64_t duration_ns);

  // The events recorded so far, in order; Clear forgets them.
  std::vector<Event> Events() const;
  void Clear();

  // The events in Chrome's trace format: a JSON object that ui.perfetto.dev
  // and chrome://tracing open. Times are in microseconds.
  std::string ToChromeTrace() const;

 private:
  const int64_t origin_ns_;
  mutable absl::Mutex mutex_;
  std::vector<Event> events_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_PROFILER_H_
