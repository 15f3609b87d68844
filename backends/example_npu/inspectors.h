#ifndef INGOT_BACKENDS_EXAMPLE_NPU_INSPECTORS_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_INSPECTORS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace ingot {

// Command streams as text: their commands by number, as errors name them.
// Errors: AlreadyExists.
absl::Status RegisterExampleNpuInspectors(InspectorRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_INSPECTORS_H_
