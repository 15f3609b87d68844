#ifndef INGOT_BACKENDS_EXAMPLE_NPU_QUEUE_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
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
  // Events see it, which may outlive the queue.
  struct Progress {
    std::mutex mutex;  // of all that follows
    std::condition_variable changed;
    std::deque<std::function<absl::Status()>> work;
    int64_t added = 0;
    int64_t done = 0;
    absl::Status status;
    bool ends = false;
  };
  class Moment;

  static void Work(Progress* progress);

  const std::shared_ptr<Progress> progress_;
  std::thread worker_;
};

}  // namespace ingot::example_npu

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_QUEUE_H_
