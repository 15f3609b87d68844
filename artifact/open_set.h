// Opening an artifact set in either of its forms.

#ifndef INGOT_ARTIFACT_OPEN_SET_H_
#define INGOT_ARTIFACT_OPEN_SET_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "artifact/artifact_set.h"
#include "artifact/container.h"
#include "artifact/inspector.h"

namespace ingot {

// The set at `path`: a directory as ReadDirectory reads it, any other file as
// ReadContainerFile does. Errors: those of the two; NotFound.
absl::StatusOr<ArtifactSet> ReadSet(
    absl::string_view path, const ReadOptions& options = {},
    const InspectorRegistry* inspectors = nullptr);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_OPEN_SET_H_
