#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "artifact/container.h"
#include "artifact/container_layout.h"
#include "artifact/manifest.h"
#include "artifact/manifest.pb.h"
#include "artifact/sha256.h"
#include "base/replace_file.h"
#include "base/status_macros.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace ingot {
namespace {

constexpr size_t kMaxPiece = size_t{4} << 20;

// The same message gives the same bytes.
absl::StatusOr<std::string> SerializeManifest(const Manifest& manifest) {
  const size_t size = manifest.ByteSizeLong();
  if (size > kMaxManifestSize) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the set's manifest has ", size,
                     " bytes, and a container allows ", kMaxManifestSize));
  }
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    manifest.SerializeWithCachedSizes(&coded);
  }
  if (bytes.size() != size) {
    return absl::InternalError("the manifest could not be serialised");
  }
  return bytes;
}

struct Plan {
  container_layout::Header header;
  std::string manifest;
  std::vector<uint64_t> offsets;  // one for each artifact
};

absl::StatusOr<Plan> MakePlan(const ArtifactSet& set) {
  INGOT_ASSIGN_OR_RETURN(Manifest manifest, DescribeSet(set));
  // Offsets have a fixed width, so any other than zero gives the true length.
  for (Manifest::Entry& entry : *manifest.mutable_entries()) {
    entry.set_offset(1);
    entry.set_defer_digest(DefersDigest(entry));
  }
  Plan plan;
  plan.header.manifest_size = manifest.ByteSizeLong();
  uint64_t end = plan.header.manifest_offset + plan.header.manifest_size;
  for (Manifest::Entry& entry : *manifest.mutable_entries()) {
    INGOT_ASSIGN_OR_RETURN(uint64_t offset,
                           container_layout::PlacePayload(end, entry.size()));
    entry.set_offset(offset);
    plan.offsets.push_back(offset);
    end = offset + entry.size();
  }
  plan.header.file_size = end;
  INGOT_ASSIGN_OR_RETURN(std::string bytes, SerializeManifest(manifest));
  plan.manifest = std::move(bytes);
  plan.header.manifest_sha256 = Sha256Bytes(plan.manifest);
  return plan;
}

}  // namespace

absl::StatusOr<ContainerPlaces> PlacesInContainer(const ArtifactSet& set) {
  INGOT_RETURN_IF_ERROR(set.CheckExportable());
  INGOT_ASSIGN_OR_RETURN(Plan plan, MakePlan(set));
  return ContainerPlaces{std::move(plan.offsets), plan.header.file_size};
}

absl::Status WriteContainerTo(const ArtifactSet& set, const ByteSink& sink) {
  INGOT_RETURN_IF_ERROR(set.CheckExportable());
  INGOT_ASSIGN_OR_RETURN(Plan plan, MakePlan(set));

  uint64_t end = 0;
  const auto put = [&sink, &end](absl::string_view bytes) {
    while (!bytes.empty()) {
      const absl::string_view piece = bytes.substr(0, kMaxPiece);
      INGOT_RETURN_IF_ERROR(sink(piece));
      end += piece.size();
      bytes.remove_prefix(piece.size());
    }
    return absl::OkStatus();
  };
  absl::Status status = put(container_layout::EncodeHeader(plan.header));
  if (status.ok()) status = put(plan.manifest);
  for (size_t i = 0; status.ok() && i < plan.offsets.size(); ++i) {
    status = put(std::string(plan.offsets[i] - end, '\0'));
    if (status.ok()) status = put(set.artifacts()[i].content.view());
  }
  return status;
}

absl::Status WriteContainer(const ArtifactSet& set, absl::string_view path) {
  INGOT_ASSIGN_OR_RETURN(ReplaceFile file, ReplaceFile::Open(path));
  INGOT_RETURN_IF_ERROR(WriteContainerTo(
      set, [&file](absl::string_view bytes) { return file.Append(bytes); }));
  return file.Commit();
}

absl::StatusOr<std::string> SerializeContainer(const ArtifactSet& set) {
  std::string bytes;
  absl::Status status = WriteContainerTo(set, [&bytes](absl::string_view more) {
    bytes.append(more.data(), more.size());
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return bytes;
}

}  // namespace ingot
