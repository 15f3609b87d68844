// What a set is made of, as a bill of materials.
#ifndef INGOT_TOOLS_INGOT_SBOM_H_
#define INGOT_TOOLS_INGOT_SBOM_H_

#include "artifact/artifact_set.h"
#include "nlohmann/json.hpp"

namespace ingot {

// CycloneDX 1.5: the model, each artifact with its SHA-256, and the libraries
// that its code calls. It has no time and no serial number, so that a set has
// one.
nlohmann::ordered_json Sbom(const ArtifactSet& set);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_SBOM_H_
