#include "backends/opencl/stream.h"

#include "absl/strings/str_cat.h"
#include "backends/opencl/device.h"
#include "base/status_macros.h"

namespace ingot::opencl {
namespace {

class ClEvent final : public DeviceEvent {
 public:
  ClEvent(const ClDevice& device, cl_event event)
      : device_(device), event_(event) {}
  ~ClEvent() override { device_.driver().ReleaseEvent(event_); }

  absl::Status Wait() override {
    return ToStatus(absl::StrCat("work on ", device_.name()),
                    device_.driver().WaitForEvents(1, &event_));
  }

  const ClDevice& device() const { return device_; }
  const cl_event* handle() const { return &event_; }

 private:
  const ClDevice& device_;
  const cl_event event_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ClStream>> ClStream::Open(
    const ClDevice& device) {
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = device.driver().CreateCommandQueueWithProperties(
      device.context(), device.id(), nullptr, &code);
  INGOT_RETURN_IF_ERROR(ToStatus("clCreateCommandQueue", code));
  return std::unique_ptr<ClStream>(new ClStream(device, queue));
}

ClStream::ClStream(const ClDevice& device, cl_command_queue queue)
    : device_(device), driver_(device.driver()), queue_(queue) {}

ClStream::~ClStream() {
  driver_.Finish(queue_);
  driver_.ReleaseCommandQueue(queue_);
}

absl::Status ClStream::Queued(const char* function, cl_int code) {
  INGOT_RETURN_IF_ERROR(ToStatus(function, code));
  return ToStatus("clFlush", driver_.Flush(queue_));
}

absl::Status ClStream::Copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  return Queued("clEnqueueSVMMemcpy",
                driver_.EnqueueSVMMemcpy(queue_, /*blocking=*/CL_FALSE, to,
                                         from, bytes, 0, nullptr, nullptr));
}

absl::Status ClStream::CopyFromCpu(void* to, const void* from, size_t bytes) {
  return Copy(to, from, bytes);
}

absl::Status ClStream::CopyToCpu(void* to, const void* from, size_t bytes) {
  return Copy(to, from, bytes);
}

absl::StatusOr<std::shared_ptr<DeviceEvent>> ClStream::Record() {
  cl_event event = nullptr;
  INGOT_RETURN_IF_ERROR(
      ToStatus("clEnqueueMarkerWithWaitList",
               driver_.EnqueueMarkerWithWaitList(queue_, 0, nullptr, &event)));
  auto recorded = std::make_shared<ClEvent>(device_, event);
  INGOT_RETURN_IF_ERROR(ToStatus("clFlush", driver_.Flush(queue_)));
  return recorded;
}

absl::Status ClStream::WaitFor(std::shared_ptr<DeviceEvent> event) {
  const auto* of_device = dynamic_cast<const ClEvent*>(event.get());
  if (of_device == nullptr || &of_device->device() != &device_) {
    return event->Wait();
  }
  return ToStatus("clEnqueueBarrierWithWaitList",
                  driver_.EnqueueBarrierWithWaitList(
                      queue_, 1, of_device->handle(), nullptr));
}

absl::Status ClStream::Synchronize() {
  // An event tells how the work ended, and clFinish does not.
  const absl::StatusOr<std::shared_ptr<DeviceEvent>> all = Record();
  if (all.ok()) return (*all)->Wait();
  driver_.Finish(queue_);
  return all.status();
}

absl::Status ClStream::Run(cl_kernel kernel, const device::Launch& launch) {
  const auto items = static_cast<size_t>(launch.work_items);
  const auto group = static_cast<size_t>(launch.group);
  return Queued("clEnqueueNDRangeKernel",
                driver_.EnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &items,
                                             group == 0 ? nullptr : &group, 0,
                                             nullptr, nullptr));
}

}  // namespace ingot::opencl
