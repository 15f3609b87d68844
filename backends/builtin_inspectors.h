#ifndef INGOT_BACKENDS_BUILTIN_INSPECTORS_H_
#define INGOT_BACKENDS_BUILTIN_INSPECTORS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace ingot {

// Registers the inspectors of all backends that are built in, and those for
// text and JSON.
// Errors: AlreadyExists.
absl::Status RegisterBuiltinInspectors(InspectorRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_BUILTIN_INSPECTORS_H_
