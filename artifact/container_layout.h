// The bytes that every container starts with, and where payloads go. Private to
// the container's reader and writer; docs/artifact_format.md has the table.

#ifndef INGOT_ARTIFACT_CONTAINER_LAYOUT_H_
#define INGOT_ARTIFACT_CONTAINER_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::container_layout {

inline constexpr size_t kHeaderSize = 128;

// Between two payloads there are fewer bytes than this, which bounds the work
// of checking that they are zero, and leaves room for a larger alignment.
inline constexpr uint64_t kMaxGap = uint64_t{2} << 20;

// The bytes of every container that come first.
inline constexpr absl::string_view kMagic("INGOT\0\r\n", 8);

struct Header {
  uint64_t manifest_offset = kHeaderSize;
  uint64_t manifest_size = 0;
  uint64_t file_size = 0;
  std::string manifest_sha256;  // 32 bytes
};

// kHeaderSize bytes, the last 32 of which are the SHA-256 of those before.
std::string EncodeHeader(const Header& header);

// The header that `container` starts with, checked against itself: magic, then
// format version, then checksum, then its fields. Errors: as ReadContainer's.
absl::StatusOr<Header> DecodeHeader(absl::string_view container);

// The least offset from `end` on at which a payload of `size` bytes may start.
// OutOfRange when the payload would end beyond 2^63 - 1.
absl::StatusOr<uint64_t> PlacePayload(uint64_t end, uint64_t size);

// The number that the offset of a payload of `size` bytes is a multiple of.
uint64_t PayloadAlignment(uint64_t size);

}  // namespace ingot::container_layout

#endif  // INGOT_ARTIFACT_CONTAINER_LAYOUT_H_
