// The alignment that memory and files have throughout Ingot.
#ifndef INGOT_BASE_ALIGNMENT_H_
#define INGOT_BASE_ALIGNMENT_H_

#include <cstddef>

namespace ingot {

// Tensors, arenas, and payloads in containers start at multiples of this many
// bytes: a cache line, and the widest vector register. Generated code may rely
// on it.
inline constexpr size_t kAlignment = 64;

}  // namespace ingot

#endif  // INGOT_BASE_ALIGNMENT_H_
