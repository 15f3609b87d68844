// Plans for tests to change.
#ifndef INGOT_RUNTIME_PLAN_SMALL_PLAN_H_
#define INGOT_RUNTIME_PLAN_SMALL_PLAN_H_

#include "runtime/plan/plan.pb.h"

namespace ingot {

// Returns a plan that passes CheckPlan, of one call, y = f(x, w): x f32[N, 4]
// is tensor 0, the constant w f32[4] tensor 1, y f32[N, 4] tensor 2.
Plan SmallPlan();

// Gives each tensor of a plan and its bodies a type of its own: tensor i type
// i.
void NumberTypes(Plan* plan);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_SMALL_PLAN_H_
