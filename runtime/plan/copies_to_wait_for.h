#ifndef INGOT_RUNTIME_PLAN_COPIES_TO_WAIT_FOR_H_
#define INGOT_RUNTIME_PLAN_COPIES_TO_WAIT_FOR_H_

#include <vector>

#include "runtime/plan/plan.pb.h"

namespace ingot {

// Copies between the CPU and devices go on while later calls run. For each call
// of a plan that passed CheckPlan, or of a body, this gives the copies, as
// indices of calls before it, that must be done first: those that write what it
// works on in the CPU's memory, or read what it writes there. A copy's own
// device does its copies in order, so those are left out. Calls of functions of
// devices wait for none.
std::vector<std::vector<int>> CopiesToWaitFor(const Plan& plan);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_COPIES_TO_WAIT_FOR_H_
