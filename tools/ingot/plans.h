// The plans in a set, which may come from anywhere.
#ifndef INGOT_TOOLS_INGOT_PLANS_H_
#define INGOT_TOOLS_INGOT_PLANS_H_

#include <vector>

#include "artifact/artifact_set.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {

// The plans that can be read, one for each variant of a set that has variants.
// They are not checked: an index may be any number.
std::vector<SharedPlan> ReadPlans(const ArtifactSet& set);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_PLANS_H_
