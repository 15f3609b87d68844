// The directory form of an artifact set: one that a person reads and edits.
//
//   manifest.json                           names, sizes, digests, provenance
//   <target_key>/<codegen_id>/<file_name>   one file for each artifact
//   <target_key>/<codegen_id>/<file_name><suffix>   what an inspector says of
//   it
//
// Only the files that manifest.json lists as entries are artifacts.

#ifndef INGOT_ARTIFACT_DIRECTORY_H_
#define INGOT_ARTIFACT_DIRECTORY_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "artifact/container.h"
#include "artifact/inspector.h"

namespace ingot {

// The file at the top of a directory that marks it as a dump.
inline constexpr char kDirectoryManifest[] = "manifest.json";

// Writes `set` into the folder `dir`, which is made if it is missing (its
// parent must exist). `dir` must be empty or an earlier dump; of that, the
// files that its manifest names are replaced or removed, and any other file
// stays. Everything is first written beside, so a full disk leaves an earlier
// dump as it was. An inspector that fails leaves a file that says why. Errors:
// those of ArtifactSet::CheckExportable; FailedPrecondition when `dir` is
// neither empty nor a dump, or when a file that no dump made is in the way;
// what the system reports.
absl::Status WriteDirectory(const ArtifactSet& set, absl::string_view dir,
                            const InspectorRegistry& inspectors);

// The set in `dir`, its artifacts mapped from their files. Reading what
// WriteDirectory wrote gives an equal set, with the same container bytes. Every
// digest is checked, weights too, because here a person may edit.
//
// Without options.accept_edits, one FailedPrecondition names every file that is
// missing or not as the manifest says. With it, files are taken as they are, an
// artifact whose file is missing is left out, and an entry that a person added
// to the manifest needs neither size nor digest. An artifact whose text form
// was edited is read from that, by options.inspectors; InvalidArgument names
// the file, line and column of what is wrong there, and FailedPrecondition the
// artifact that was edited in both forms.
//
// Links below `dir` are refused, and so are names that break a rule of names.h.
// Other errors: NotFound (no manifest.json), InvalidArgument (a manifest that
// is not one), FailedPrecondition (a format version that this Ingot does not
// read).
absl::StatusOr<ArtifactSet> ReadDirectory(
    absl::string_view dir, const ReadOptions& options = {},
    const InspectorRegistry* inspectors = nullptr);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_DIRECTORY_H_
