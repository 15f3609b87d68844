// For tests: a device with memory of its own.
#ifndef INGOT_RUNTIME_FAR_DEVICE_H_
#define INGOT_RUNTIME_FAR_DEVICE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/address_space.h"
#include "runtime/device.h"
#include "runtime/device_stream.h"

namespace ingot {

// Functions "on" the device translate its addresses. Thread-safe.
class FarDevice final : public StreamingDeviceApi {
 public:
  // When the work of streams runs. A lazy device does nothing before somebody
  // waits for it, so that whoever forgets to wait sees what was there before.
  enum class Work { kAtOnce, kLazily };

  // Has memory for so many bytes.
  explicit FarDevice(size_t capacity = size_t{1} << 30,
                     Work work = Work::kAtOnce)
      : memory_("the far device", capacity), work_(work) {}

  // A device of this memory, ready for work.
  static OpenDevice Open(std::shared_ptr<FarDevice> memory) {
    return {Device{kDLExtDev, 0}, std::move(memory)};
  }

  absl::StatusOr<void*> Allocate(Device device, size_t bytes,
                                 size_t alignment) override;
  void Free(Device device, void* memory) override;
  absl::Status CopyFromCpu(Device device, void* to, const void* from,
                           size_t bytes) override;
  absl::Status CopyToCpu(Device device, void* to, const void* from,
                         size_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> OpenStream(
      Device device) override;

  // Queues work on the current stream, which must be one of a far device.
  static void Queue(std::function<absl::Status()> work);

  const AddressSpace& memory() const { return memory_; }

  // The numbers of copies so far.
  int copies_from_cpu() const { return from_cpu_; }
  int copies_to_cpu() const { return to_cpu_; }

 private:
  AddressSpace memory_;
  const Work work_;
  std::atomic<int> from_cpu_{0}, to_cpu_{0};
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_FAR_DEVICE_H_
