// manifest.json, and the names of a dump's files. Private to this folder.

#ifndef INGOT_ARTIFACT_DIRECTORY_MANIFEST_H_
#define INGOT_ARTIFACT_DIRECTORY_MANIFEST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/file_tree.h"
#include "artifact/manifest.pb.h"

namespace ingot {

// `manifest` as indented JSON, with its fields' names as manifest.proto has
// them.
absl::StatusOr<std::string> ManifestToJson(const Manifest& manifest);

// The manifest at the top of `tree`, its format version and the names in every
// entry checked. NotFound when there is none; other errors as ReadDirectory's.
absl::StatusOr<Manifest> LoadManifest(const FileTree& tree);

// The paths of the files that `manifest` names, manifest.json not among them.
std::vector<std::string> FilesNamedBy(const Manifest& manifest);

// The path of the file `note` beside the artifact of `entry`.
std::string NotePath(const Manifest::Entry& entry, absl::string_view note);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_DIRECTORY_MANIFEST_H_
