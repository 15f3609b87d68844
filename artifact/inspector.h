// Inspectors: what a person can be shown of an artifact.

#ifndef INGOT_ARTIFACT_INSPECTOR_H_
#define INGOT_ARTIFACT_INSPECTOR_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "artifact/artifact.h"

namespace ingot {

// Text for a person, such as a disassembly. The artifact may be hostile: an
// inspector returns an error for what it cannot read. Called from one thread at
// a time.
using Inspector = std::function<absl::StatusOr<std::string>(const Artifact&)>;

// An inspector, and the artifacts that it is for. An artifact matches if it
// meets every condition that is not empty.
struct InspectorRule {
  // Unique in a registry, such as "elf.disassembly".
  std::string name;

  // The file name ends in one of these, such as ".o".
  std::vector<std::string> file_suffixes;
  std::string loader;
  std::string codegen_id;

  // The suffix that a directory adds to the artifact's file name to name the
  // file with this text, such as ".dis.txt". Empty if the artifact's own file
  // is readable as it is, so that a second file would only repeat it.
  std::string output_suffix;

  Inspector inspect;
};

// A value, filled explicitly; the rooms that own a format register its
// inspectors. Thread-compatible.
class InspectorRegistry {
 public:
  // Errors: AlreadyExists for a name that is taken; InvalidArgument for a rule
  // without name or function, or whose output suffix is not "." and then up to
  // 40 of [A-Za-z0-9_.-].
  absl::Status Register(InspectorRule rule);

  // The rules that match, in the order they were registered. Valid until the
  // next Register.
  std::vector<const InspectorRule*> Find(const Artifact& artifact) const;

 private:
  std::vector<InspectorRule> rules_;
};

}  // namespace ingot

#endif  // INGOT_ARTIFACT_INSPECTOR_H_
