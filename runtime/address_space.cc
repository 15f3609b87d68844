#include "runtime/address_space.h"

#include <atomic>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

// Processors refuse addresses like these; each space gets 2^44 bytes of them.
uintptr_t FirstAddress() {
  static std::atomic<uintptr_t> spaces{0};
  return (uintptr_t{1} << 60) + (spaces++ % (1 << 15) << 44);
}

}  // namespace

AddressSpace::AddressSpace(std::string name, size_t capacity)
    : name_(std::move(name)), capacity_(capacity), next_(FirstAddress()) {}

absl::StatusOr<void*> AddressSpace::Allocate(size_t bytes, size_t alignment) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > capacity_ - in_use_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(name_, " has no memory for ", bytes, " bytes, ", in_use_,
                     " of ", capacity_, " are in use"));
  }
  next_ = (next_ + alignment - 1) / alignment * alignment;
  const uintptr_t address = next_;
  next_ += bytes + 1;  // blocks never touch
  in_use_ += bytes;
  Block& block = blocks_[address];
  block = {std::make_unique<char[]>(bytes), bytes};
  // So that whoever reads what nobody wrote does not get zeros.
  std::memset(block.bytes.get(), 0xa5, bytes);
  return reinterpret_cast<void*>(address);
}

void AddressSpace::Free(void* address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = blocks_.find(reinterpret_cast<uintptr_t>(address));
  if (it == blocks_.end()) return;
  in_use_ -= it->second.size;
  blocks_.erase(it);
}

absl::StatusOr<char*> AddressSpace::Translate(const void* address,
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
      absl::StrCat(name_, " has no ", bytes, " bytes at ", at));
}

size_t AddressSpace::bytes_in_use() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return in_use_;
}

}  // namespace ingot
