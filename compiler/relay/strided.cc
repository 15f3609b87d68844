#include "compiler/relay/strided.h"

#include <cstring>

namespace ingot::relay {
namespace {

struct Loop {
  int64_t extent, from, to;  // strides in elements
};

// Without loops of one iteration, and with neighbours joined that are one loop.
std::vector<Loop> MakeLoops(absl::Span<const int64_t> from_strides,
                            absl::Span<const int64_t> to_strides,
                            absl::Span<const int64_t> dims) {
  std::vector<Loop> loops;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    const Loop inner = {dims[d], from_strides[d], to_strides[d]};
    if (!loops.empty() && loops.back().from == inner.from * inner.extent &&
        loops.back().to == inner.to * inner.extent) {
      loops.back() = {loops.back().extent * inner.extent, inner.from, inner.to};
    } else {
      loops.push_back(inner);
    }
  }
  return loops;
}

template <typename T>
void Copy(const T* from, T* to, absl::Span<const Loop> loops) {
  if (loops.empty()) {
    *to = *from;
    return;
  }
  const Loop& loop = loops[0];
  if (loops.size() == 1) {
    if (loop.from == 1 && loop.to == 1) {
      std::memcpy(to, from, loop.extent * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < loop.extent; ++i) {
      to[i * loop.to] = from[i * loop.from];
    }
    return;
  }
  for (int64_t i = 0; i < loop.extent; ++i) {
    Copy(from + i * loop.from, to + i * loop.to, loops.subspan(1));
  }
}

}  // namespace

std::vector<int64_t> DenseStrides(absl::Span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

void CopyStrided(const void* from, absl::Span<const int64_t> from_strides,
                 void* to, absl::Span<const int64_t> to_strides,
                 absl::Span<const int64_t> dims, size_t element) {
  for (int64_t dim : dims) {
    if (dim == 0) return;
  }
  const std::vector<Loop> loops = MakeLoops(from_strides, to_strides, dims);
  switch (element) {
    case 1:
      return Copy(static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to),
                  absl::MakeConstSpan(loops));
    case 2:
      return Copy(static_cast<const uint16_t*>(from),
                  static_cast<uint16_t*>(to), absl::MakeConstSpan(loops));
    case 4:
      return Copy(static_cast<const uint32_t*>(from),
                  static_cast<uint32_t*>(to), absl::MakeConstSpan(loops));
    default:
      return Copy(static_cast<const uint64_t*>(from),
                  static_cast<uint64_t*>(to), absl::MakeConstSpan(loops));
  }
}

}  // namespace ingot::relay
