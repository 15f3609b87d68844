#ifndef INGOT_BACKENDS_LIGHT_INSPECTORS_H_
#define INGOT_BACKENDS_LIGHT_INSPECTORS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace ingot {

// Registers the inspectors of RegisterBuiltinInspectors but for those that
// bring a compiler along (`heavy` in backends/BUILD.bazel), such as the
// disassembler. Errors: AlreadyExists.
absl::Status RegisterLightInspectors(InspectorRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LIGHT_INSPECTORS_H_
