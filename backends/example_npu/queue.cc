#include "backends/example_npu/queue.h"

#include <utility>

namespace ingot::example_npu {

class Queue::Moment final : public DeviceEvent {
 public:
  Moment(std::shared_ptr<Progress> progress, int64_t count)
      : progress_(std::move(progress)), count_(count) {}

  absl::Status Wait() override {
    const absl::MutexLock lock(&progress_->mutex);
    const auto is_done = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return progress_->done >= count_;
    };
    progress_->mutex.Await(absl::Condition(&is_done));
    return progress_->status;
  }

 private:
  const std::shared_ptr<Progress> progress_;
  const int64_t count_;
};

Queue::Queue()
    : progress_(std::make_shared<Progress>()), worker_(Work, progress_.get()) {}

Queue::~Queue() {
  {
    const absl::MutexLock lock(&progress_->mutex);
    progress_->ends = true;
  }
  worker_.join();
}

void Queue::Add(std::function<absl::Status()> work) {
  const absl::MutexLock lock(&progress_->mutex);
  progress_->work.push_back(std::move(work));
  ++progress_->added;
}

std::shared_ptr<DeviceEvent> Queue::Last() const {
  const absl::MutexLock lock(&progress_->mutex);
  return std::make_shared<Moment>(progress_, progress_->added);
}

absl::Status Queue::Synchronize() {
  Last()->Wait().IgnoreError();
  const absl::MutexLock lock(&progress_->mutex);
  return std::exchange(progress_->status, absl::OkStatus());
}

void Queue::Work(Progress* progress) {
  const auto is_wanted = [progress]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return progress->ends || !progress->work.empty();
  };
  while (true) {
    std::function<absl::Status()> work;
    absl::Status status;
    {
      const absl::MutexLock lock(&progress->mutex);
      progress->mutex.Await(absl::Condition(&is_wanted));
      if (progress->work.empty()) return;
      work = std::move(progress->work.front());
      progress->work.pop_front();
      status = progress->status;
    }
    if (status.ok()) status = work();
    work = nullptr;  // before anybody hears that it is done
    const absl::MutexLock lock(&progress->mutex);
    progress->status = std::move(status);
    ++progress->done;
  }
}

}  // namespace ingot::example_npu
