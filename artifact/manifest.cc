#include "artifact/manifest.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "artifact/container_format.h"
#include "artifact/sha256.h"

namespace ingot {

absl::StatusOr<Manifest> DescribeSet(const ArtifactSet& set) {
  Manifest manifest;
  manifest.set_format_version(kContainerFormatVersion);
  *manifest.mutable_provenance() = set.provenance();
  // Fields that a later Ingot added mean nothing here and are not written back.
  // (Leaving them out of what is read would cost each load a third of its time:
  // protobuf does it by descriptors.)
  manifest.DiscardUnknownFields();
  std::vector<absl::string_view> contents;
  for (const Artifact& artifact : set.artifacts()) {
    contents.push_back(artifact.content.view());
  }
  const std::vector<std::string> digests = Sha256HexOfAll(contents);
  for (size_t i = 0; i < contents.size(); ++i) {
    const Artifact& artifact = set.artifacts()[i];
    Manifest::Entry* entry = manifest.add_entries();
    entry->set_codegen_id(artifact.codegen_id);
    entry->set_loader(artifact.loader);
    entry->set_target_key(artifact.target_key);
    entry->set_file_name(artifact.file_name);
    entry->set_size(artifact.content.size());
    entry->set_sha256(digests[i]);
    if (!IsSha256Hex(entry->sha256())) {
      return absl::InternalError("the crypto library has no SHA-256");
    }
  }
  return manifest;
}

Artifact ArtifactOf(const Manifest::Entry& entry) {
  Artifact artifact;
  artifact.codegen_id = entry.codegen_id();
  artifact.loader = entry.loader();
  artifact.target_key = entry.target_key();
  artifact.file_name = entry.file_name();
  return artifact;
}

bool DefersDigest(const Manifest::Entry& entry) {
  return entry.loader() == kConstantsLoader;
}

bool IsSha256Hex(absl::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string DisplayPath(const Manifest::Entry& entry) {
  constexpr size_t kShown = 200;
  std::string path = ArtifactPath(ArtifactOf(entry));
  if (path.size() > kShown) path = path.substr(0, kShown) + "...";
  return absl::CHexEscape(path);
}

}  // namespace ingot
