#ifndef INGOT_BACKENDS_EXAMPLEJSON_INSPECTORS_H_
#define INGOT_BACKENDS_EXAMPLEJSON_INSPECTORS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace ingot {

// Registers "examplejson.graph" (".graph.txt"): a graph as a function, with a
// line for each value. Errors: AlreadyExists.
absl::Status RegisterExamplejsonInspectors(InspectorRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXAMPLEJSON_INSPECTORS_H_
