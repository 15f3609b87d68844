// Inspectors: what a person can be shown of an artifact.

#ifndef INGOT_ARTIFACT_INSPECTOR_H_
#define INGOT_ARTIFACT_INSPECTOR_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact.h"
#include "artifact/artifact_set.h"

namespace ingot {

// Text for a person, such as a disassembly. `set` is what the artifact is in,
// for what others know of it, such as which nodes of the model a function
// computes. Both may be hostile: an inspector returns an error for what it
// cannot read. Called from one thread at a time.
using Inspector = std::function<absl::StatusOr<std::string>(
    const Artifact& artifact, const ArtifactSet& set)>;

// The content of an artifact, made of the text that an inspector wrote and a
// person edited. InvalidArgument "line:column: what" for text that is wrong.
using TextReader =
    std::function<absl::StatusOr<std::string>(absl::string_view text)>;

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

  // For artifacts that no other rule matches: it knows the syntax alone.
  bool only_alone = false;

  // Reads the text back, where it says all that the artifact does: who edits it
  // in a directory edits the artifact. Null for text that only describes. At
  // most one rule that matches an artifact may have it.
  TextReader read_back;
};

// An inspector of whole sets.
struct SetInspectorRule {
  std::string name;  // unique among them
  std::function<absl::StatusOr<std::string>(const ArtifactSet& set)> inspect;
};

// A value, filled explicitly; the rooms that own a format register its
// inspectors. Thread-compatible.
class InspectorRegistry {
 public:
  // Errors of both: AlreadyExists for a name that is taken; InvalidArgument for
  // a rule without name or function, or a rule whose output suffix is not "."
  // and then up to 40 of [A-Za-z0-9_.-].
  absl::Status Register(InspectorRule rule);

  absl::Status RegisterForSets(SetInspectorRule rule);

  // The rules that match, in the order they were registered. Valid until the
  // next Register.
  std::vector<const InspectorRule*> Find(const Artifact& artifact) const;

  // The rule among them that reads its text back; null where none does.
  const InspectorRule* FindTextForm(const Artifact& artifact) const;

  const std::vector<SetInspectorRule>& for_sets() const { return for_sets_; }

 private:
  std::vector<InspectorRule> rules_;
  std::vector<SetInspectorRule> for_sets_;
};

}  // namespace ingot

#endif  // INGOT_ARTIFACT_INSPECTOR_H_
