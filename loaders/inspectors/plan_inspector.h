#ifndef INGOT_LOADERS_INSPECTORS_PLAN_INSPECTOR_H_
#define INGOT_LOADERS_INSPECTORS_PLAN_INSPECTOR_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"

namespace ingot {

// Shows a plan as text, and reads that back (runtime/plan/text).
// AlreadyExists when the registry has it.
absl::Status RegisterPlanInspector(InspectorRegistry* inspectors);

}  // namespace ingot

#endif  // INGOT_LOADERS_INSPECTORS_PLAN_INSPECTOR_H_
