// Inspectors for text and JSON, whoever made it.

#ifndef INGOT_ARTIFACT_TEXT_INSPECTORS_H_
#define INGOT_ARTIFACT_TEXT_INSPECTORS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace ingot {

// Registers "text" (source, assembly and IR files: shown as they are, with no
// second file in a directory) and "json" (".pretty.json": what fits on a line
// is on one; members in their own order, numbers as written), which is for what
// no other inspector knows. Errors: AlreadyExists when `registry` has one of
// them.
absl::Status RegisterTextInspectors(InspectorRegistry* registry);

}  // namespace ingot

#endif  // INGOT_ARTIFACT_TEXT_INSPECTORS_H_
