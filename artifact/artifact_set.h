// ArtifactSet: everything that compiling one model made.

#ifndef INGOT_ARTIFACT_ARTIFACT_SET_H_
#define INGOT_ARTIFACT_ARTIFACT_SET_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact.h"
#include "artifact/provenance.pb.h"

namespace ingot {

// A set of artifacts in an order that does not depend on how they were added,
// and the provenance that they share. A value: copying copies names and shares
// the bytes. Thread-compatible: const calls may run at the same time.
class ArtifactSet {
 public:
  // Adds `artifact`; an empty target key becomes kDefaultTargetKey.
  // Errors, all of which leave the set as it was:
  //   InvalidArgument  a name breaks a rule of names.h, differs from another
  //   one
  //                    only in case, or is a folder in one artifact's path and
  //                    a file in another's;
  //   AlreadyExists    the set has an artifact of these names.
  absl::Status Add(Artifact artifact);

  // Sorted by target key, then codegen, then file name, as bytes. The reference
  // and pointers into it are valid until the next Add.
  const std::vector<Artifact>& artifacts() const { return artifacts_; }

  // Null when there is none. Valid until the next Add.
  const Artifact* Find(absl::string_view target_key,
                       absl::string_view codegen_id,
                       absl::string_view file_name) const;

  Provenance& mutable_provenance() { return provenance_; }
  const Provenance& provenance() const { return provenance_; }

  // FailedPrecondition when an artifact holds a live object, which has no form
  // on disk; InvalidArgument when the provenance has a text that is not UTF-8
  // or a name that breaks a rule of names.h. Every writer calls it first.
  absl::Status CheckExportable() const;

 private:
  std::vector<Artifact> artifacts_;
  // Every folder and file on the paths <target_key>/<codegen_id>/<file_name>,
  // by its lower-case form: its true spelling, ending in "/" for a folder.
  absl::flat_hash_map<std::string, std::string> paths_;
  Provenance provenance_;
};

// "<target_key>/<codegen_id>/<file_name>": where a directory keeps the
// artifact, and how messages name it.
std::string ArtifactPath(const Artifact& artifact);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_ARTIFACT_SET_H_
