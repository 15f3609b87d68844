#ifndef INGOT_BACKENDS_EXAMPLE_NPU_QUEUE_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_QUEUE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "runtime/device_stream.h"

namespace ingot::example_npu {

// Work that a thread of its own does in order, up to the first that fails.
// Thread-safe.
class Queue {
 public:
  Queue();
  ~Queue();  // after all work

  void Add(std::function<absl::Status()> work);

  // The moment when all that was added so far is done.
  std::shared_ptr<DeviceEvent> Last() const;

  // Waits for that moment, and returns and forgets the error.
  absl::Status Synchronize();

 private:
  // What events see, which may outlive the queue.
  struct Progress {
    absl::Mutex mutex;
    std::deque<std::function<absl::Status()>> work ABSL_GUARDED_BY(mutex);
    int64_t added ABSL_GUARDED_BY(mutex) = 0;
    int64_t done ABSL_GUARDED_BY(mutex) = 0;
    absl::Status status ABSL_GUARDED_BY(mutex);
    bool ends ABSL_GUARDED_BY(mutex) = false;
  };
  class Moment;

  static void Work(Progress* progress);

  const std::shared_ptr<Progress> progress_;
  std::thread worker_;
};

}  // namespace ingot::example_npu

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_QUEUE_H_
