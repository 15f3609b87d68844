// A queue of a device's work.
#ifndef INGOT_BACKENDS_OPENCL_STREAM_H_
#define INGOT_BACKENDS_OPENCL_STREAM_H_

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/device/table.h"
#include "backends/opencl/driver.h"
#include "runtime/device_stream.h"

namespace ingot::opencl {

class ClDevice;

// OpenCL's queue, by which events of its device are waited for without the CPU;
// those of other devices block. Thread-safe beyond what a DeviceStream must be,
// since a device's own serves all that are no executors.
class ClStream final : public DeviceStream {
 public:
  // Does not outlive the device.
  static absl::StatusOr<std::unique_ptr<ClStream>> Open(const ClDevice& device);
  ~ClStream() override;

  absl::Status CopyFromCpu(void* to, const void* from, size_t bytes) override;
  absl::Status CopyToCpu(void* to, const void* from, size_t bytes) override;
  absl::StatusOr<std::shared_ptr<DeviceEvent>> Record() override;
  absl::Status WaitFor(std::shared_ptr<DeviceEvent> event) override;
  absl::Status Synchronize() override;

  // Queues a kernel that has its arguments.
  absl::Status Run(cl_kernel kernel, const device::Launch& launch);

  const ClDevice& device() const { return device_; }

 private:
  ClStream(const ClDevice& device, cl_command_queue queue);
  absl::Status Copy(void* to, const void* from, size_t bytes);
  // Says what queueing gave, and lets the device begin.
  absl::Status Queued(const char* function, cl_int code);

  const ClDevice& device_;
  const Driver& driver_;
  const cl_command_queue queue_;
};

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_STREAM_H_
