#ifndef INGOT_BACKENDS_DNNL_INSPECTORS_H_
#define INGOT_BACKENDS_DNNL_INSPECTORS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace ingot {

// Registers "dnnl.graph" (".graph.txt"): a region as a function, with a line
// for each operator, its operands, types, weights, attributes and
// post-operations. Errors: AlreadyExists.
absl::Status RegisterDnnlInspectors(InspectorRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_DNNL_INSPECTORS_H_
