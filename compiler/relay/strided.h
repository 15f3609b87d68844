// Copies of tensors that only move elements: transposes, slices, broadcasts,
// packing. Internal to compiler/relay.
#ifndef INGOT_COMPILER_RELAY_STRIDED_H_
#define INGOT_COMPILER_RELAY_STRIDED_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ingot::relay {

// Strides, in elements, of a dense row-major array.
std::vector<int64_t> DenseStrides(absl::Span<const int64_t> dims);

// to[i * to_strides] = from[i * from_strides] for every index i below `dims`,
// elements of `element` bytes, strides in elements (0 repeats one).
void CopyStrided(const void* from, absl::Span<const int64_t> from_strides,
                 void* to, absl::Span<const int64_t> to_strides,
                 absl::Span<const int64_t> dims, size_t element);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_STRIDED_H_
