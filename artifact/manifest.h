// Between artifacts and the manifest's entries: what the container and the
// directory share. Private to this folder.

#ifndef INGOT_ARTIFACT_MANIFEST_H_
#define INGOT_ARTIFACT_MANIFEST_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact.h"
#include "artifact/artifact_set.h"
#include "artifact/manifest.pb.h"

namespace ingot {

// The manifest of `set`, an entry for each artifact in the set's order, with
// names, sizes and digests but no offsets. Reads every byte. Internal error
// when the crypto library has no SHA-256.
absl::StatusOr<Manifest> DescribeSet(const ArtifactSet& set);

// The names of `entry`, without content. They are not checked.
Artifact ArtifactOf(const Manifest::Entry& entry);

// Whether the digest may be left unchecked unless asked for: only for weights,
// whatever a manifest says of other artifacts.
bool DefersDigest(const Manifest::Entry& entry);

bool IsSha256Hex(absl::string_view text);

// "<target_key>/<codegen_id>/<file_name>" for a message: escaped, because the
// names are not checked yet, and of a bounded length.
std::string DisplayPath(const Manifest::Entry& entry);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_MANIFEST_H_
