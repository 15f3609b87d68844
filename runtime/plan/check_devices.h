#ifndef INGOT_RUNTIME_PLAN_CHECK_DEVICES_H_
#define INGOT_RUNTIME_PLAN_CHECK_DEVICES_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// InvalidArgument unless all that a plan or a body works on is where it must
// be: arguments of a function on the call's device, what other steps, callers
// and users see on the CPU. Indices must be right; `num_devices` are the whole
// plan's.
absl::Status CheckPlacesOnDevices(const Plan& plan, int num_devices);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_DEVICES_H_
