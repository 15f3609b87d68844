#include "backends/example_npu/queue.h"

#include <utility>

namespace ingot::example_npu {

class Queue::Moment final : public DeviceEvent {
 public:
  Moment(std::shared_ptr<Progress> progress, int64_t count)
      : progress_(std::move(progress)), count_(count) {}

  absl::Status Wait() override {
    std::unique_lock<std::mutex> lock(progress_->mutex);
    progress_->changed.wait(lock, [this] { return progress_->done >= count_; });
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
    const std::lock_guard<std::mutex> lock(progress_->mutex);
    progress_->ends = true;
  }
  progress_->changed.notify_all();
  worker_.join();
}

void Queue::Add(std::function<absl::Status()> work) {
  const std::lock_guard<std::mutex> lock(progress_->mutex);
  progress_->work.push_back(std::move(work));
  ++progress_->added;
  progress_->changed.notify_all();
}

std::shared_ptr<DeviceEvent> Queue::Last() const {
  const std::lock_guard<std::mutex> lock(progress_->mutex);
  return std::make_shared<Moment>(progress_, progress_->added);
}

absl::Status Queue::Synchronize() {
  Last()->Wait().IgnoreError();
  const std::lock_guard<std::mutex> lock(progress_->mutex);
  return std::exchange(progress_->status, absl::OkStatus());
}

void Queue::Work(Progress* progress) {
  while (true) {
    std::function<absl::Status()> work;
    absl::Status status;
    {
      std::unique_lock<std::mutex> lock(progress->mutex);
      progress->changed.wait(lock, [progress] {
        return progress->ends || !progress->work.empty();
      });
      if (progress->work.empty()) return;
      work = std::move(progress->work.front());
      progress->work.pop_front();
      status = progress->status;
    }
    if (status.ok()) status = work();
    work = nullptr;  // before anybody hears that it is done
    const std::lock_guard<std::mutex> lock(progress->mutex);
    progress->status = std::move(status);
    ++progress->done;
    progress->changed.notify_all();
  }
}

}  // namespace ingot::example_npu
