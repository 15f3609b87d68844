// The numbers of the container's format; docs/artifact_format.md explains them.

#ifndef INGOT_ARTIFACT_CONTAINER_FORMAT_H_
#define INGOT_ARTIFACT_CONTAINER_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace ingot {

inline constexpr uint32_t kContainerFormatVersion = 2;

// Every payload starts at a multiple of kAlignment bytes; one of
// kPagePayloadSize bytes or more starts at a multiple of kPageAlignment.
inline constexpr size_t kPageAlignment = 4096;
inline constexpr size_t kPagePayloadSize = size_t{1} << 20;

// The longest manifest that is written or read, in bytes.
inline constexpr size_t kMaxManifestSize = size_t{16} << 20;

}  // namespace ingot

#endif  // INGOT_ARTIFACT_CONTAINER_FORMAT_H_
