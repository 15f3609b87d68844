#include "runtime/far_device.h"

#include <cstring>
#include <deque>

#include "base/status_macros.h"

namespace ingot {
namespace {

// Work that waits, and how far it got. One thread uses all streams of a test.
struct Queued {
  bool lazy;
  std::deque<std::function<absl::Status()>> work;
  int done = 0;
  absl::Status status;

  void RunUntil(int count) {
    while (done < count && !work.empty()) {
      if (status.ok()) status = work.front()();
      work.pop_front();
      ++done;
    }
  }
  int count() const { return done + static_cast<int>(work.size()); }
};

class FarStream final : public DeviceStream {
 public:
  FarStream(FarDevice* device, bool lazy)
      : device_(*device), queued_(std::make_shared<Queued>()) {
    queued_->lazy = lazy;
  }
  ~FarStream() override { queued_->RunUntil(queued_->count()); }

  void Queue(std::function<absl::Status()> work) {
    queued_->work.push_back(std::move(work));
    if (!queued_->lazy) queued_->RunUntil(queued_->count());
  }

  absl::Status CopyFromCpu(void* to, const void* from, size_t bytes) override {
    Queue([=] { return device_.CopyFromCpu(Device(), to, from, bytes); });
    return absl::OkStatus();
  }
  absl::Status CopyToCpu(void* to, const void* from, size_t bytes) override {
    Queue([=] { return device_.CopyToCpu(Device(), to, from, bytes); });
    return absl::OkStatus();
  }
  absl::StatusOr<std::shared_ptr<DeviceEvent>> Record() override {
    return std::make_shared<Event>(queued_);
  }
  absl::Status WaitFor(std::shared_ptr<DeviceEvent> event) override {
    Queue([event] { return event->Wait(); });
    return absl::OkStatus();
  }
  absl::Status Synchronize() override {
    queued_->RunUntil(queued_->count());
    return std::exchange(queued_->status, absl::OkStatus());
  }

 private:
  struct Event final : DeviceEvent {
    explicit Event(std::shared_ptr<Queued> queue)
        : queued(std::move(queue)), count(queued->count()) {}
    absl::Status Wait() override {
      queued->RunUntil(count);
      return queued->status;
    }
    const std::shared_ptr<Queued> queued;
    const int count;
  };

  FarDevice& device_;
  const std::shared_ptr<Queued> queued_;
};

}  // namespace

absl::StatusOr<void*> FarDevice::Allocate(Device, size_t bytes,
                                          size_t alignment) {
  return memory_.Allocate(bytes, alignment);
}

void FarDevice::Free(Device, void* memory) { memory_.Free(memory); }

absl::Status FarDevice::CopyFromCpu(Device, void* to, const void* from,
                                    size_t bytes) {
  INGOT_ASSIGN_OR_RETURN(void* here, memory_.Translate(to, bytes));
  if (bytes > 0) std::memcpy(here, from, bytes);  // takes no null
  ++from_cpu_;
  return absl::OkStatus();
}

absl::Status FarDevice::CopyToCpu(Device, void* to, const void* from,
                                  size_t bytes) {
  INGOT_ASSIGN_OR_RETURN(const void* here, memory_.Translate(from, bytes));
  if (bytes > 0) std::memcpy(to, here, bytes);
  ++to_cpu_;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<DeviceStream>> FarDevice::OpenStream(Device) {
  return std::make_unique<FarStream>(this, work_ == Work::kLazily);
}

void FarDevice::Queue(std::function<absl::Status()> work) {
  static_cast<FarStream*>(DeviceStream::Current())->Queue(std::move(work));
}

}  // namespace ingot
