// A device of OpenCL: its memory, its code, and the queues in which its work
// waits.
#ifndef INGOT_BACKENDS_OPENCL_DEVICE_H_
#define INGOT_BACKENDS_OPENCL_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/device/kernel_device.h"
#include "backends/opencl/driver.h"
#include "backends/opencl/stream.h"
#include "runtime/device.h"
#include "runtime/device_stream.h"

namespace ingot::opencl {

// Memory is OpenCL's shared virtual memory, whose addresses can be added to.
// Thread-safe. Each executor has a stream; what others queue on the device's
// own one, from different threads, runs in some order.
class ClDevice final : public device::KernelDevice {
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
  absl::StatusOr<std::unique_ptr<DeviceStream>> OpenStream(
      Device device) override;

  absl::string_view family() const override;
  std::string BuiltFor() const override;
  absl::StatusOr<void*> LoadCode(absl::string_view source,
                                 std::string* built) override;
  absl::StatusOr<void*> LoadBuilt(absl::string_view binary) override;
  void UnloadCode(void* code) override;
  absl::StatusOr<void*> FindKernel(void* code, const device::Launch& launch,
                                   size_t arguments) override;
  absl::Status Run(void* kernel, const device::Launch& launch,
                   absl::Span<void* const> arguments) override;

  const Driver& driver() const { return driver_; }
  const std::string& name() const { return name_; }
  cl_device_id id() const { return id_; }
  cl_context context() const { return context_; }

 private:
  ClDevice(const Driver& driver, cl_device_id id) : driver_(driver), id_(id) {}
  absl::Status Init();
  std::string Info(cl_device_info what) const;
  // Takes the program, and releases it if that fails.
  absl::StatusOr<void*> Build(cl_program program);

  const Driver& driver_;
  const cl_device_id id_;
  std::string name_;
  cl_context context_ = nullptr;
  std::unique_ptr<ClStream> own_;  // of those who are no executor
  // Arguments belong to a kernel until it is queued.
  absl::Mutex mutex_;
};

}  // namespace ingot::opencl

#endif  // INGOT_BACKENDS_OPENCL_DEVICE_H_
