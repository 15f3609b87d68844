// The C header of a whole model, in a set whose code has it as one function.
#ifndef INGOT_ARTIFACT_MAIN_HEADER_H_
#define INGOT_ARTIFACT_MAIN_HEADER_H_

#include "absl/status/statusor.h"
#include "artifact/artifact_set.h"

namespace ingot {

// The option of the provenance that says why a set has no such function.
inline constexpr char kNoMainOption[] = "no-main";

// Valid until the next change of the set. FailedPrecondition, with the reason
// as far as the set knows it, where there is none.
absl::StatusOr<const Artifact*> FindMainHeader(const ArtifactSet& set);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_MAIN_HEADER_H_
