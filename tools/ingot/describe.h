// Artifacts as text for a person.

#ifndef INGOT_TOOLS_INGOT_DESCRIBE_H_
#define INGOT_TOOLS_INGOT_DESCRIBE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "artifact/artifact.h"
#include "tools/ingot/sets.h"

namespace ingot {

// NeedsCompiler for an artifact that is no text and that no inspector of this
// program knows, in a program without a compiler: the one that has it has more
// of them, such as the disassembler.
absl::Status CheckInspectors(const Artifact& artifact,
                             const Builtins& builtins);

// Returns the text of all inspectors that know an artifact of `set`, or the
// artifact itself if it is text; otherwise its first bytes. Errors: those of
// CheckInspectors.
absl::StatusOr<std::string> Describe(const Artifact& artifact,
                                     const ArtifactSet& set,
                                     const Builtins& builtins);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_DESCRIBE_H_
