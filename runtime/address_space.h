// The memory of a simulated device.
#ifndef INGOT_RUNTIME_ADDRESS_SPACE_H_
#define INGOT_RUNTIME_ADDRESS_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ingot {

// Memory whose addresses are numbers that no pointer of the CPU is, so that
// whoever takes one for a pointer crashes, and that no other address space has.
// Thread-safe.
class AddressSpace {
 public:
  // Has memory for `capacity` bytes. `name` is the device's, for errors.
  AddressSpace(std::string name, size_t capacity);

  const std::string& name() const { return name_; }

  // As DeviceApi::Allocate and Free.
  absl::StatusOr<void*> Allocate(size_t bytes, size_t alignment);
  void Free(void* address);

  // The CPU's view of `bytes` bytes at an address, until they are freed.
  // OutOfRange unless they are all within what was allocated together.
  absl::StatusOr<char*> Translate(const void* address, size_t bytes) const;

  size_t bytes_in_use() const;

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };

  const std::string name_;
  const size_t capacity_;
  mutable std::mutex mutex_;           // of all that follows
  std::map<uintptr_t, Block> blocks_;  // by address
  uintptr_t next_;
  size_t in_use_ = 0;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_ADDRESS_SPACE_H_
