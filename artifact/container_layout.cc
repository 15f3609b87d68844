#include "artifact/container_layout.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "artifact/container_format.h"
#include "artifact/sha256.h"
#include "base/alignment.h"
#include "base/status_macros.h"

namespace ingot::container_layout {
namespace {

// The zero says that this is no text, and a tool that converts line endings all
// the same changes the magic, so that the file is refused at once.

constexpr size_t kVersionAt = 8;
constexpr size_t kHeaderSizeAt = 12;
constexpr size_t kManifestOffsetAt = 16;
constexpr size_t kManifestSizeAt = 24;
constexpr size_t kFileSizeAt = 32;
constexpr size_t kManifestDigestAt = 40;
constexpr size_t kReservedAt = 72;
constexpr size_t kChecksumAt = 96;
constexpr size_t kDigestSize = 32;

// Little-endian, whatever the machine.
template <typename T>
std::string Encode(T value) {
  std::string bytes(sizeof(T), '\0');
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(value >> (8 * i) & 0xFF);
  }
  return bytes;
}

template <typename T>
T Decode(absl::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return value;
}

absl::Status CheckVersion(uint32_t version) {
  if (version == kContainerFormatVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the container has format version ", version,
      ", and this Ingot reads version ", kContainerFormatVersion,
      version > kContainerFormatVersion
          ? " only: a newer Ingot wrote it, or it is damaged"
          : " only: an older Ingot wrote it, so compile the model again"));
}

}  // namespace

std::string EncodeHeader(const Header& header) {
  std::string bytes =
      absl::StrCat(kMagic, Encode(kContainerFormatVersion),
                   Encode(static_cast<uint32_t>(kHeaderSize)),
                   Encode(header.manifest_offset), Encode(header.manifest_size),
                   Encode(header.file_size), header.manifest_sha256);
  bytes.resize(kChecksumAt, '\0');
  return absl::StrCat(bytes, Sha256Bytes(bytes));
}

absl::StatusOr<Header> DecodeHeader(absl::string_view container) {
  if (container.substr(0, kMagic.size()) != kMagic) {
    if (absl::StartsWith(kMagic, container)) {
      return absl::DataLossError(
          absl::StrCat("the container is cut off: it has only ",
                       container.size(), " bytes, less than its header"));
    }
    return absl::InvalidArgumentError(
        "not an Ingot container: it does not start with the bytes INGOT\\0");
  }
  // Before anything else: what another version means by the rest is unknown.
  if (container.size() >= kHeaderSizeAt) {
    INGOT_RETURN_IF_ERROR(
        CheckVersion(Decode<uint32_t>(container.substr(kVersionAt))));
  }
  if (container.size() < kHeaderSize) {
    return absl::DataLossError(
        absl::StrCat("the container is cut off: it has only ", container.size(),
                     " bytes, less than its header"));
  }
  if (container.substr(kChecksumAt, kDigestSize) !=
      Sha256Bytes(container.substr(0, kChecksumAt))) {
    return absl::DataLossError(
        "the container's header is damaged: its checksum does not match");
  }
  Header header;
  header.manifest_offset =
      Decode<uint64_t>(container.substr(kManifestOffsetAt));
  header.manifest_size = Decode<uint64_t>(container.substr(kManifestSizeAt));
  header.file_size = Decode<uint64_t>(container.substr(kFileSizeAt));
  header.manifest_sha256 =
      std::string(container.substr(kManifestDigestAt, kDigestSize));
  const absl::string_view reserved =
      container.substr(kReservedAt, kChecksumAt - kReservedAt);
  if (Decode<uint32_t>(container.substr(kHeaderSizeAt)) != kHeaderSize ||
      header.manifest_offset != kHeaderSize ||
      reserved.find_first_not_of('\0') != absl::string_view::npos) {
    return absl::DataLossError(
        "the container's header has fields that format version 1 does not "
        "allow");
  }
  return header;
}

uint64_t PayloadAlignment(uint64_t size) {
  return size >= kPagePayloadSize ? kPageAlignment : kAlignment;
}

absl::StatusOr<uint64_t> PlacePayload(uint64_t end, uint64_t size) {
  constexpr uint64_t kLimit = std::numeric_limits<int64_t>::max();
  const uint64_t alignment = PayloadAlignment(size);
  if (end <= kLimit - alignment) {
    const uint64_t offset = (end + alignment - 1) / alignment * alignment;
    if (size <= kLimit - offset) return offset;
  }
  return absl::OutOfRangeError("a container cannot have 2^63 bytes or more");
}

}  // namespace ingot::container_layout
