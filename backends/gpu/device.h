// A GPU: its memory, its code, and the streams in which its work waits.
#ifndef INGOT_BACKENDS_GPU_DEVICE_H_
#define INGOT_BACKENDS_GPU_DEVICE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/device/kernel_device.h"
#include "backends/gpu/driver.h"
#include "backends/gpu/stream.h"
#include "runtime/device.h"
#include "runtime/device_stream.h"

namespace ingot::gpu {

// While it lives, a device is that of the calling thread; then the thread has
// again what it had before, such as the device that PyTorch goes on with.
class InUse {
 public:
  InUse() = default;  // nothing to give back
  InUse(const Driver& driver, Context before)
      : driver_(&driver), before_(before) {}
  InUse(InUse&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)),
        before_(other.before_) {}
  InUse& operator=(InUse&&) = delete;
  ~InUse() {
    if (driver_ != nullptr) driver_->SetContext(before_);
  }

 private:
  const Driver* driver_ = nullptr;
  Context before_ = nullptr;
};

// Thread-safe. Each executor has a stream; what others queue on the device's
// own one, from different threads, runs in some order.
class GpuDevice final : public device::KernelDevice {
 public:
  // The family's device with that number. NotFound without the driver, or
  // without so many devices.
  static absl::StatusOr<OpenDevice> Open(const Family& family, int number = 0);

  ~GpuDevice() override;

  absl::StatusOr<void*> Allocate(Device device, size_t bytes,
                                 size_t alignment) override;
  void Free(Device device, void* memory) override;
  // Errors of kernels that were queued before, too, with the last one's name.
  absl::Status CopyFromCpu(Device device, void* to, const void* from,
                           size_t bytes) override;
  absl::Status CopyToCpu(Device device, void* to, const void* from,
                         size_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> OpenStream(
      Device device) override;

  absl::string_view family() const override { return driver_.family->name; }
  // Drivers of HIP take code as LLVM made it.
  std::string BuiltFor() const override;
  absl::StatusOr<void*> LoadCode(absl::string_view bytes,
                                 std::string* built) override;
  absl::StatusOr<void*> LoadBuilt(absl::string_view bytes) override {
    return LoadCode(bytes, nullptr);
  }
  void UnloadCode(void* code) override;
  absl::StatusOr<void*> FindKernel(void* code, const device::Launch& launch,
                                   size_t arguments) override;
  // InvalidArgument for work items that are in no groups, or in too many.
  absl::Status Run(void* kernel, const device::Launch& launch,
                   absl::Span<void* const> arguments) override;

  // The executor's stream on the calling thread, or else the device's own.
  GpuStream& CurrentStream() const;

  // Makes the device that of the calling thread: around calls of the driver.
  absl::StatusOr<InUse> Use() const;

  const Driver& driver() const { return driver_; }
  const std::string& name() const { return name_; }

 private:
  GpuDevice(const Driver& driver, int device)
      : driver_(driver), device_(device) {}
  absl::Status Init();
  absl::StatusOr<std::string> Compile(const std::string& ptx);
  // Whether a kernel takes so many, or the driver does not say.
  bool HasParameters(Kernel kernel, size_t count) const;

  const Driver& driver_;
  const int device_;
  std::string name_;
  Context context_ = nullptr;
  std::unique_ptr<GpuStream> own_;  // of those who are no executor
};

}  // namespace ingot::gpu

#endif  // INGOT_BACKENDS_GPU_DEVICE_H_
