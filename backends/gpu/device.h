// A GPU: its memory, and the stream in which its work waits.
#ifndef INGOT_BACKENDS_GPU_DEVICE_H_
#define INGOT_BACKENDS_GPU_DEVICE_H_

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/gpu/driver.h"
#include "runtime/device.h"

namespace ingot::gpu {

// Thread-safe: what different threads queue runs in some order.
class GpuDevice final : public DeviceApi {
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

  // Compiles or loads code. InvalidArgument with the first lines of the
  // driver's compiler.
  absl::StatusOr<CodeHandle> LoadCode(absl::string_view image);
  void UnloadCode(CodeHandle code);
  // InvalidArgument where the code has no such kernel.
  absl::StatusOr<Kernel> FindKernel(CodeHandle code, const std::string& name);

  // Queues a kernel whose arguments are these addresses, in `groups` groups of
  // `group` work items. `name` is for messages about it.
  absl::Status Launch(Kernel kernel, absl::string_view name,
                      absl::Span<void* const> arguments, unsigned groups,
                      unsigned group);

  const Family& family() const { return *driver_.family; }
  const std::string& name() const { return name_; }

 private:
  GpuDevice(const Driver& driver, int device)
      : driver_(driver), device_(device) {}
  absl::Status Init();
  // Makes the device that of the calling thread.
  absl::Status Use() const;
  absl::Status Wait();

  const Driver& driver_;
  const int device_;
  std::string name_;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  absl::Mutex mutex_;
  // Work fails after it was queued, and the driver does not say which.
  std::string last_kernel_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace ingot::gpu

#endif  // INGOT_BACKENDS_GPU_DEVICE_H_
