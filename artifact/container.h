// The container: a whole artifact set in one file (".ingot") or one section of
// a library. docs/artifact_format.md describes the bytes.

#ifndef INGOT_ARTIFACT_CONTAINER_H_
#define INGOT_ARTIFACT_CONTAINER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "artifact/blob.h"
#include "artifact/container_format.h"  // IWYU pragma: export

namespace ingot {

// Takes the container's bytes in order, in pieces of at most 4 MiB. An error
// stops the writer, which returns it.
using ByteSink = std::function<absl::Status(absl::string_view)>;

// Writes `set` to `sink`. The bytes depend only on the set. Reads each payload
// twice, for its digest and to pass it on, and never copies one.
// Errors: those of ArtifactSet::CheckExportable; ResourceExhausted for a
// manifest over kMaxManifestSize; those of `sink`.
absl::Status WriteContainerTo(const ArtifactSet& set, const ByteSink& sink);

// The places at which WriteContainerTo puts the artifacts' contents.
struct ContainerPlaces {
  std::vector<uint64_t> offsets;  // in bytes, parallel to set.artifacts()
  uint64_t size = 0;              // of the container
};

// Reads each payload once, for its digest. Errors: those of WriteContainerTo.
absl::StatusOr<ContainerPlaces> PlacesInContainer(const ArtifactSet& set);

// Writes `set` to the file at `path`, whole or not at all: into another file in
// the same folder, which is synced to the disk and then renamed. On an error,
// what was at `path` stays as it was. The set's blobs may be mapped from
// `path`. A link at `path` stays, and the file that it names is replaced.
// Errors: those of WriteContainerTo; FailedPrecondition when `path` names
// something other than a regular file; what the system reports (a full disk is
// ResourceExhausted).
absl::Status WriteContainer(const ArtifactSet& set, absl::string_view path);

// The same bytes in memory, for sets that are small enough to hold twice.
absl::StatusOr<std::string> SerializeContainer(const ArtifactSet& set);

// Told the path of a note, what an inspector wrote beside an artifact, that a
// person edited, and the path of the artifact's own file.
using EditedNoteFn =
    std::function<void(absl::string_view note, absl::string_view artifact)>;

struct ReadOptions {
  // Also check the digests of weights (loader "constants"), which reads every
  // byte of them. All other digests are always checked.
  bool check_all_digests = false;

  // Directories only: take files that differ from the manifest as they are, and
  // leave out artifacts whose file is gone. The provenance names them
  // (edits.h).
  bool accept_edits = false;

  // Directories only: told of notes that were edited, which changes nothing in
  // the set. Null: notes are not looked at.
  EditedNoteFn on_edited_note;
};

// Whether the bytes start as every container does.
bool IsContainer(absl::string_view bytes);

// The set in `container`, whose artifacts share its bytes without a copy. They
// are aligned in memory as in the container if `container.data()` is aligned to
// a page, as a mapped file is.
//
// Safe for hostile bytes: every offset and size is checked before use, and the
// memory used is bounded by the manifest's size. Errors:
//   InvalidArgument     not a container, or a name breaks a rule of names.h;
//   FailedPrecondition  a format version that this Ingot does not read;
//   DataLoss            cut off, longer than it says, or with changed bytes.
absl::StatusOr<ArtifactSet> ReadContainer(const Blob& container,
                                          const ReadOptions& options = {});

// Whether two containers hold the same, by their headers alone, which have the
// digest of all digests.
bool HaveSameHeader(const Blob& a, const Blob& b);

// The length in bytes that the container starting with `start` says it has, for
// one that is followed by something else. `start` needs only the header.
// Errors: as ReadContainer's.
absl::StatusOr<uint64_t> ContainerSize(absl::string_view start);

// Maps the file at `path` and reads it. Errors: also those of Blob::MapFile;
// each message names the path.
absl::StatusOr<ArtifactSet> ReadContainerFile(absl::string_view path,
                                              const ReadOptions& options = {});

}  // namespace ingot

#endif  // INGOT_ARTIFACT_CONTAINER_H_
