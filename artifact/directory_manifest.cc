#include "artifact/directory_manifest.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "artifact/container.h"
#include "artifact/directory.h"
#include "artifact/manifest.h"
#include "artifact/names.h"
#include "base/status_macros.h"
#include "google/protobuf/util/json_util.h"

namespace ingot {
namespace {

namespace json = google::protobuf::util;

// JSON is longer than the container's form of the same manifest.
constexpr size_t kMaxJsonSize = 8 * kMaxManifestSize;

// File systems allow no longer name.
constexpr size_t kMaxNoteLength = 255;

absl::StatusOr<Manifest> ParseManifest(absl::string_view text,
                                       bool ignore_unknown_fields) {
  json::JsonParseOptions options;
  options.ignore_unknown_fields = ignore_unknown_fields;
  Manifest manifest;
  const auto status =
      json::JsonStringToMessage({text.data(), text.size()}, &manifest, options);
  if (!status.ok()) {
    return absl::InvalidArgumentError(status.ToString());
  }
  return manifest;
}

absl::Status CheckEntry(const Manifest::Entry& entry) {
  absl::Status status = CheckTargetKey(entry.target_key());
  status.Update(CheckIdentifier("the codegen id", entry.codegen_id()));
  status.Update(CheckIdentifier("the loader", entry.loader()));
  status.Update(CheckFileName(entry.file_name()));
  for (const std::string& note : entry.notes()) {
    status.Update(CheckComponent(note, kMaxNoteLength));
  }
  if (entry.note_sha256_size() != 0 &&
      entry.note_sha256_size() != entry.notes_size()) {
    status.Update(absl::InvalidArgumentError(
        absl::StrCat("it has ", entry.notes_size(), " notes and ",
                     entry.note_sha256_size(), " digests of notes")));
  }
  return status;
}

}  // namespace

absl::StatusOr<std::string> ManifestToJson(const Manifest& manifest) {
  json::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = json::MessageToJsonString(manifest, &text, options);
  if (!status.ok()) {
    return absl::InternalError(
        absl::StrCat("cannot print the manifest: ", status.ToString()));
  }
  return text;
}

absl::StatusOr<Manifest> LoadManifest(const FileTree& tree) {
  INGOT_ASSIGN_OR_RETURN(Blob text, tree.Map(kDirectoryManifest));
  const std::string shown = tree.Shown(kDirectoryManifest);
  if (text.size() > kMaxJsonSize) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, " has more than ", kMaxJsonSize, " bytes"));
  }
  absl::StatusOr<Manifest> manifest =
      ParseManifest(text.view(), /*ignore_unknown_fields=*/true);
  if (!manifest.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        shown, " is not an artifact manifest: ", manifest.status().message()));
  }
  if (manifest->format_version() != kContainerFormatVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        shown, " has format version ", manifest->format_version(),
        ", and this Ingot reads version ", kContainerFormatVersion, " only"));
  }
  // The manifest is of this version, so an unknown field is a slip of the pen.
  manifest = ParseManifest(text.view(), /*ignore_unknown_fields=*/false);
  if (!manifest.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(shown, ": ", manifest.status().message()));
  }
  for (const Manifest::Entry& entry : manifest->entries()) {
    if (absl::Status s = CheckEntry(entry); !s.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          shown, ": artifact ", DisplayPath(entry), ": ", s.message()));
    }
  }
  return manifest;
}

std::string NotePath(const Manifest::Entry& entry, absl::string_view note) {
  std::string path = ArtifactPath(ArtifactOf(entry));
  path.resize(path.rfind('/') + 1);
  return absl::StrCat(path, note);
}

std::vector<std::string> FilesNamedBy(const Manifest& manifest) {
  std::vector<std::string> files;
  for (const Manifest::Entry& entry : manifest.entries()) {
    files.push_back(ArtifactPath(ArtifactOf(entry)));
    for (const std::string& note : entry.notes()) {
      files.push_back(NotePath(entry, note));
    }
  }
  return files;
}

}  // namespace ingot
