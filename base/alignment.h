// The alignment that memory and files have throughout Ingot.
#ifndef INGOT_BASE_ALIGNMENT_H_
#define INGOT_BASE_ALIGNMENT_H_

#include <cstddef>
#include <cstdint>

namespace ingot {

// Tensors, arenas, and payloads in containers start at multiples of this many
// bytes: a cache line, and the widest vector register. Generated code may rely
// on it.
inline constexpr size_t kAlignment = 64;

// The bytes that processors move at once between memory and caches.
inline constexpr size_t kCacheLineBytes = 64;

// The smallest multiple of kAlignment that is at least `bytes`, which must be
// so far from the largest number that there is one.
constexpr uint64_t AlignUp(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace ingot

#endif  // INGOT_BASE_ALIGNMENT_H_
