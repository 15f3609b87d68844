#ifndef INGOT_RUNTIME_PLAN_VIEWS_H_
#define INGOT_RUNTIME_PLAN_VIEWS_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/plan.pb.h"

namespace ingot {

// The root of each tensor of a plan: the tensor whose place it is in, found
// through its views; for what is no view, the tensor itself. Each view must
// come after what it is a view of.
std::vector<uint32_t> RootsOf(const Plan& plan);

// The same of one tensor.
uint32_t RootOf(const Plan& plan, uint32_t tensor);

// Where a root lies, an index into the devices of the plan. Its storage must be
// there.
uint32_t DeviceOf(const Plan& plan, const PlanTensor& root);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_VIEWS_H_
