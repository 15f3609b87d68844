#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "artifact/container.h"
#include "artifact/container_layout.h"
#include "artifact/manifest.h"
#include "artifact/manifest.pb.h"
#include "artifact/names.h"
#include "artifact/sha256.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

using container_layout::DecodeHeader;
using container_layout::Header;

absl::StatusOr<Header> CheckedHeader(absl::string_view container) {
  INGOT_ASSIGN_OR_RETURN(Header header, DecodeHeader(container));
  if (header.file_size != container.size()) {
    return absl::DataLossError(absl::StrCat(
        "the container is ",
        container.size() < header.file_size ? "cut off" : "too long",
        ": its header says ", header.file_size, " bytes and there are ",
        container.size()));
  }
  if (header.manifest_size > container.size() - header.manifest_offset ||
      header.manifest_size > kMaxManifestSize) {
    return absl::DataLossError(
        absl::StrCat("the container's manifest cannot have ",
                     header.manifest_size, " bytes"));
  }
  return header;
}

absl::StatusOr<Manifest> ReadManifest(absl::string_view container,
                                      const Header& header) {
  const absl::string_view bytes =
      container.substr(header.manifest_offset, header.manifest_size);
  if (Sha256Bytes(bytes) != header.manifest_sha256) {
    return absl::DataLossError(
        "the container's manifest is damaged: its SHA-256 does not match");
  }
  Manifest manifest;
  // No longer than kMaxManifestSize, so its length is an int.
  if (!manifest.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("the container's manifest does not parse");
  }
  if (manifest.format_version() != kContainerFormatVersion) {
    return absl::DataLossError(
        absl::StrCat("the container's manifest has format version ",
                     manifest.format_version(), " and its header has ",
                     kContainerFormatVersion));
  }
  return manifest;
}

// Checks that the payload lies after `end`, the end of what precedes it, and
// that only zeros lie between.
absl::Status CheckPlace(const Manifest::Entry& entry,
                        absl::string_view container, uint64_t end) {
  const uint64_t offset = entry.offset();
  if (offset < end) {
    return absl::DataLossError(
        "its payload overlaps what precedes it in the container");
  }
  if (offset > container.size() || entry.size() > container.size() - offset) {
    return absl::DataLossError("its payload reaches beyond the container");
  }
  if (offset % container_layout::PayloadAlignment(entry.size()) != 0) {
    return absl::DataLossError("its payload is not aligned");
  }
  if (offset - end >= container_layout::kMaxGap) {
    return absl::DataLossError("there are too many bytes before its payload");
  }
  if (container.substr(end, offset - end).find_first_not_of('\0') !=
      absl::string_view::npos) {
    return absl::DataLossError("the padding before its payload is not zero");
  }
  return absl::OkStatus();
}

// The digests of the payloads that a reader checks, at their entries' places;
// empty for one that waits. All payloads lie in the container.
std::vector<std::string> DigestsToCheck(const Manifest& manifest,
                                        absl::string_view container,
                                        const ReadOptions& options) {
  std::vector<absl::string_view> payloads;
  std::vector<int> checked;
  for (int i = 0; i < manifest.entries_size(); ++i) {
    const Manifest::Entry& entry = manifest.entries(i);
    const bool waits = entry.defer_digest() && DefersDigest(entry);
    if (waits && !options.check_all_digests) continue;
    payloads.push_back(container.substr(entry.offset(), entry.size()));
    checked.push_back(i);
  }
  std::vector<std::string> found = Sha256HexOfAll(payloads);
  std::vector<std::string> digests(manifest.entries_size());
  for (size_t i = 0; i < checked.size(); ++i) {
    digests[checked[i]] = std::move(found[i]);
  }
  return digests;
}

// `digest` is that of the payload; empty if it is not checked.
absl::Status AddEntry(const Manifest::Entry& entry, const Blob& container,
                      absl::string_view digest, ArtifactSet* set) {
  // Add would replace an empty key, which no writer leaves empty.
  INGOT_RETURN_IF_ERROR(CheckTargetKey(entry.target_key()));
  Artifact artifact = ArtifactOf(entry);
  artifact.content = container.Slice(entry.offset(), entry.size());
  if (!IsSha256Hex(entry.sha256())) {
    return absl::DataLossError("its digest is not 64 lower-case hex digits");
  }
  if (!digest.empty() && digest != entry.sha256()) {
    return absl::DataLossError(
        "its bytes are damaged: their SHA-256 does not match");
  }
  return set->Add(std::move(artifact));
}

}  // namespace

bool IsContainer(absl::string_view bytes) {
  return absl::StartsWith(bytes, container_layout::kMagic);
}

bool HaveSameHeader(const Blob& a, const Blob& b) {
  constexpr size_t kSize = container_layout::kHeaderSize;
  return a.size() >= kSize && b.size() >= kSize &&
         std::memcmp(a.data(), b.data(), kSize) == 0;
}

absl::StatusOr<uint64_t> ContainerSize(absl::string_view start) {
  INGOT_ASSIGN_OR_RETURN(Header header, DecodeHeader(start));
  return header.file_size;
}

absl::StatusOr<ArtifactSet> ReadContainer(const Blob& container,
                                          const ReadOptions& options) {
  const absl::string_view bytes = container.view();
  INGOT_ASSIGN_OR_RETURN(Header header, CheckedHeader(bytes));
  INGOT_ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(bytes, header));

  const auto in_entry = [](const absl::Status& status,
                           const Manifest::Entry& entry) {
    return Annotate(status, absl::StrCat("artifact ", DisplayPath(entry)));
  };
  uint64_t end = header.manifest_offset + header.manifest_size;
  for (const Manifest::Entry& entry : manifest.entries()) {
    const absl::Status status = CheckPlace(entry, bytes, end);
    if (!status.ok()) return in_entry(status, entry);
    end = entry.offset() + entry.size();
  }
  const std::vector<std::string> digests =
      DigestsToCheck(manifest, bytes, options);
  ArtifactSet set;
  for (int i = 0; i < manifest.entries_size(); ++i) {
    const Manifest::Entry& entry = manifest.entries(i);
    const absl::Status status = AddEntry(entry, container, digests[i], &set);
    if (!status.ok()) return in_entry(status, entry);
  }
  if (end != bytes.size()) {
    return absl::DataLossError(
        absl::StrCat("the container has ", bytes.size() - end,
                     " bytes at its end that belong to no artifact"));
  }
  set.mutable_provenance() = std::move(*manifest.mutable_provenance());
  if (absl::Status s = CheckProvenance(set.provenance()); !s.ok()) {
    return Annotate(s, "the container's provenance");
  }
  return set;
}

absl::StatusOr<ArtifactSet> ReadContainerFile(absl::string_view path,
                                              const ReadOptions& options) {
  INGOT_ASSIGN_OR_RETURN(Blob blob, Blob::MapFile(path));
  absl::StatusOr<ArtifactSet> set = ReadContainer(blob, options);
  if (!set.ok()) return Annotate(set.status(), path);
  return set;
}

}  // namespace ingot
