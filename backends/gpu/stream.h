// A queue of a GPU's work.
#ifndef INGOT_BACKENDS_GPU_STREAM_H_
#define INGOT_BACKENDS_GPU_STREAM_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/device/table.h"
#include "backends/gpu/driver.h"
#include "runtime/device_stream.h"

namespace ingot::gpu {

class GpuDevice;

// The driver's stream, by which events of one driver's devices are waited for
// without the CPU; those of other devices block. Thread-safe beyond what a
// DeviceStream must be, since a device's own serves all that are no executors.
class GpuStream final : public DeviceStream {
 public:
  // Does not outlive the device.
  static absl::StatusOr<std::unique_ptr<GpuStream>> Open(
      const GpuDevice& device);
  ~GpuStream() override;

  absl::Status CopyFromCpu(void* to, const void* from, size_t bytes) override;
  absl::Status CopyToCpu(void* to, const void* from, size_t bytes) override;
  absl::StatusOr<std::shared_ptr<DeviceEvent>> Record() override;
  absl::Status WaitFor(std::shared_ptr<DeviceEvent> event) override;
  // Null for some calls of libraries, too.
  absl::StatusOr<std::unique_ptr<RecordedWork>> RecordWork(
      absl::FunctionRef<absl::Status()> queue) override;
  absl::Status Synchronize() override;

  // Queues a kernel with arguments as GpuDevice::Run has checked them.
  absl::Status Run(Kernel kernel, const device::Launch& launch,
                   absl::Span<void* const> arguments);

  // Lets a library queue work here, which `work` names for errors.
  absl::Status Queue(absl::string_view work,
                     const std::function<absl::Status(Stream)>& queue);

  const GpuDevice& device() const { return device_; }

  // Whoever queues calls that share memory holds it meanwhile: others may queue
  // on a device's own stream. Nothing but the stream owns it.
  const std::shared_ptr<absl::Mutex>& turn() const { return turn_; }

 private:
  class RecordedGraph;

  GpuStream(const GpuDevice& device, Stream stream);
  // The work so far, for an error in it: it fails after it was queued, and the
  // driver does not say which.
  std::string Work() const;

  const GpuDevice& device_;
  const Driver& driver_;
  const Stream stream_;
  const std::shared_ptr<absl::Mutex> turn_ = std::make_shared<absl::Mutex>();
  mutable absl::Mutex mutex_;
  std::string last_work_ ABSL_GUARDED_BY(mutex_);  // "kernel k"
};

}  // namespace ingot::gpu

#endif  // INGOT_BACKENDS_GPU_STREAM_H_
