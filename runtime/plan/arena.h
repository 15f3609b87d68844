#ifndef INGOT_RUNTIME_PLAN_ARENA_H_
#define INGOT_RUNTIME_PLAN_ARENA_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "runtime/device.h"

namespace ingot {

// Memory on a device that grows. Large ones of the CPU's are on large pages
// where the system has them, which saves most of the page faults and TLB
// misses.
class Arena {
 public:
  explicit Arena(OpenDevice device = OpenDevice::Cpu())
      : device_(std::move(device)) {}

  // Whether `bytes` fit without growing. Memory that was never reserved does
  // not even hold 0 bytes: it has no address.
  bool Fits(uint64_t bytes) const {
    return memory_ != nullptr && bytes <= bytes_;
  }

  // Makes that many bytes fit. Its elements are lost when it has to grow; views
  // that hold `memory` keep what they see.
  absl::Status Reserve(uint64_t bytes);

  // At a multiple of kAlignment; null before the first Reserve.
  const std::shared_ptr<void>& memory() const { return memory_; }
  char* data() const { return static_cast<char*>(memory_.get()); }
  uint64_t bytes() const { return bytes_; }

 private:
  OpenDevice device_;
  std::shared_ptr<void> memory_;
  uint64_t bytes_ = 0;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_ARENA_H_
