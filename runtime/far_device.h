// For tests: a device with memory of its own.
#ifndef INGOT_RUNTIME_FAR_DEVICE_H_
#define INGOT_RUNTIME_FAR_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device.h"

namespace ingot {

// Its addresses are numbers that the CPU has no memory at, so that whoever
// takes them for pointers crashes; functions "on" the device translate them.
// Thread-safe.
class FarDevice final : public DeviceApi {
 public:
  // Has memory for so many bytes.
  explicit FarDevice(size_t capacity = size_t{1} << 30) : capacity_(capacity) {}

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

  // The CPU's view of `bytes` bytes at an address. OutOfRange unless they are
  // all within what was allocated together.
  absl::StatusOr<void*> Translate(const void* address, size_t bytes) const;

  // What happened so far, and what is in use.
  int copies_from_cpu() const;
  int copies_to_cpu() const;
  size_t bytes_in_use() const;

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;  // by address
  uintptr_t next_ = uintptr_t{1} << 60;
  size_t in_use_ = 0;
  int from_cpu_ = 0, to_cpu_ = 0;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_FAR_DEVICE_H_
