#include "runtime/far_device.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot {

absl::StatusOr<void*> FarDevice::Allocate(Device, size_t bytes,
                                          size_t alignment) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > capacity_ - in_use_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the far device has no memory for ", bytes, " bytes, ",
                     in_use_, " of ", capacity_, " are in use"));
  }
  next_ = (next_ + alignment - 1) / alignment * alignment;
  const uintptr_t address = next_;
  next_ += bytes + 1;  // blocks never touch
  in_use_ += bytes;
  blocks_[address] = {std::make_unique<char[]>(bytes), bytes};
  return reinterpret_cast<void*>(address);
}

void FarDevice::Free(Device, void* memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  if (it == blocks_.end()) return;
  in_use_ -= it->second.size;
  blocks_.erase(it);
}

absl::StatusOr<void*> FarDevice::Translate(const void* address,
                                           size_t bytes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = reinterpret_cast<uintptr_t>(address);
  auto it = blocks_.upper_bound(at);
  if (it != blocks_.begin()) {
    --it;
    const size_t offset = at - it->first;
    if (offset <= it->second.size && bytes <= it->second.size - offset) {
      return it->second.bytes.get() + offset;
    }
  }
  return absl::OutOfRangeError(
      absl::StrCat("the far device has no ", bytes, " bytes at ", at));
}

absl::Status FarDevice::CopyFromCpu(Device, void* to, const void* from,
                                    size_t bytes) {
  INGOT_ASSIGN_OR_RETURN(void* here, Translate(to, bytes));
  std::memcpy(here, from, bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  ++from_cpu_;
  return absl::OkStatus();
}

absl::Status FarDevice::CopyToCpu(Device, void* to, const void* from,
                                  size_t bytes) {
  INGOT_ASSIGN_OR_RETURN(const void* here, Translate(from, bytes));
  std::memcpy(to, here, bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  ++to_cpu_;
  return absl::OkStatus();
}

int FarDevice::copies_from_cpu() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return from_cpu_;
}

int FarDevice::copies_to_cpu() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return to_cpu_;
}

size_t FarDevice::bytes_in_use() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return in_use_;
}

}  // namespace ingot
