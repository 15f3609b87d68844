#ifndef INGOT_LOADERS_INSPECTORS_CONSTANTS_INSPECTOR_H_
#define INGOT_LOADERS_INSPECTORS_CONSTANTS_INSPECTOR_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace ingot {

// Shows weights as a table: name, dtype, shape, minimum, maximum and mean.
// AlreadyExists when the registry has it.
absl::Status RegisterConstantsInspector(InspectorRegistry* inspectors);

}  // namespace ingot

#endif  // INGOT_LOADERS_INSPECTORS_CONSTANTS_INSPECTOR_H_
