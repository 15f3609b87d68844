// A device that runs kernels of code which its driver compiles or loads.
#ifndef INGOT_BACKENDS_DEVICE_KERNEL_DEVICE_H_
#define INGOT_BACKENDS_DEVICE_KERNEL_DEVICE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/device/table.h"
#include "runtime/device_stream.h"

namespace ingot::device {

// Handles are the driver's or the device's own; they mean nothing elsewhere.
// Thread-safe.
class KernelDevice : public StreamingDeviceApi {
 public:
  // The family of devices that share such code, for people: "CUDA".
  virtual absl::string_view family() const = 0;

  // Says where code runs that this device's driver built, in lines: the device,
  // and the driver with its version. Empty where the driver builds nothing.
  virtual std::string BuiltFor() const = 0;

  // Compiles or loads code. `built`, which may be null, gets what LoadBuilt
  // takes, if the driver gives it away. InvalidArgument with the first lines of
  // what the driver's compiler says.
  virtual absl::StatusOr<void*> LoadCode(absl::string_view bytes,
                                         std::string* built) = 0;
  // Loads what a driver built. Errors where it does not suit this one.
  virtual absl::StatusOr<void*> LoadBuilt(absl::string_view bytes) = 0;
  // After work that uses it, as far as that is on the device's own stream.
  virtual void UnloadCode(void* code) = 0;
  // A launch's kernel, which gets so many addresses and the launch's maps, and
  // is there as long as the code. InvalidArgument where the code has none of
  // that name, or the device less memory than a group shares, or no copies of
  // boxes, and where the driver says that it takes something else.
  virtual absl::StatusOr<void*> FindKernel(void* code, const Launch& launch,
                                           size_t arguments) = 0;

  // Queues a kernel whose arguments are these addresses on the executor's
  // stream, or else on the device's own.
  virtual absl::Status Run(void* kernel, const Launch& launch,
                           absl::Span<void* const> arguments) = 0;
};

}  // namespace ingot::device

#endif  // INGOT_BACKENDS_DEVICE_KERNEL_DEVICE_H_
