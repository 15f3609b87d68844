// The artifacts of a set that are not as they were compiled.
#ifndef INGOT_ARTIFACT_EDITS_H_
#define INGOT_ARTIFACT_EDITS_H_

#include <set>
#include <string>
#include <vector>

#include "artifact/provenance.pb.h"

namespace ingot {

// Writes down that the artifacts at these paths (ArtifactPath) were edited.
void MarkEdited(const std::vector<std::string>& paths, Provenance* provenance);

// The paths that are written down.
std::set<std::string> EditedPaths(const Provenance& provenance);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_EDITS_H_
