#ifndef INGOT_COMPILER_DRIVER_PLAN_SHARE_IN_PLACE_H_
#define INGOT_COMPILER_DRIVER_PLAN_SHARE_IN_PLACE_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/plan.pb.h"

namespace ingot {

// Says which results take the place of operands (PlanCall.in_place), in a plan
// whose calls and outputs are complete and in which what calls write has no
// place yet: a value that a loop carries takes that of the value that the loop
// begins with, and a sequence that of the sequence it is made of, where nothing
// reads these afterwards. `owned_inputs` are the inputs of a body that are
// passed for each run, so that it may use up those that are sequences.
void ShareInPlace(Plan* plan, const std::vector<uint32_t>& owned_inputs);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_PLAN_SHARE_IN_PLACE_H_
