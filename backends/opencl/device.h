// A device of OpenCL: its memory, and the queue in which its work waits.
#ifndef INGOT_BACKENDS_OPENCL_DEVICE_H_
#define INGOT_BACKENDS_OPENCL_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/opencl/driver.h"
#include "runtime/device.h"

namespace ingot::opencl {

// Memory is OpenCL's shared virtual memory, whose addresses can be added to.
// Thread-safe: what different threads queue runs in some order.
class ClDevice final : public DeviceApi {
 public:
  // The first device with such memory of the first platform that has one.
  // NotFound where there is none.
  static absl::StatusOr<OpenDevice> Open();

  ~ClDevice() override;

  absl::StatusOr<void*> Allocate(Device device, size_t bytes,
                                 size_t alignment) override;
  void Free(Device device, void* memory) override;
  absl::Status CopyFromCpu(Device device, void* to, const void* from,
                           size_t bytes) override;
  absl::Status CopyToCpu(Device device, void* to, const void* from,
                         size_t bytes) override;

  // Compiles a file. InvalidArgument with the compiler's first lines.
  absl::StatusOr<cl_program> Build(absl::string_view source);

  // Queues a kernel whose arguments are these addresses. Its work items are in
  // groups of `group`, or, where that is 0, as the driver likes.
  absl::Status Launch(cl_kernel kernel, absl::Span<void* const> arguments,
                      size_t work_items, size_t group);

  const Driver& driver() const { return driver_; }
  const std::string& name() const { return name_; }

 private:
  ClDevice(const Driver& driver, cl_device_id id) : driver_(driver), id_(id) {}
  absl::Status Init();
  absl::Status Copy(void* to, const void* from, size_t bytes);

  const Driver& driver_;
  const cl_device_id id_;
  std::string name_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  // Arguments belong to a kernel until it is queued.
  absl::Mutex mutex_;
};

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_DEVICE_H_
