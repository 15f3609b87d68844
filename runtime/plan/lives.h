// When the values of a plan are in use.
#ifndef INGOT_RUNTIME_PLAN_LIVES_H_
#define INGOT_RUNTIME_PLAN_LIVES_H_

#include <vector>

#include "runtime/plan/plan.pb.h"

namespace ingot {

// The first and the last call that has a tensor, or a view or part of it, among
// its arguments. An output is in use up to the call after the last one; -1 for
// what is never used.
struct Life {
  int first = -1;
  int last = -1;
};

// The life of each tensor of a plan, which may come from anywhere: indices
// that are out of range are passed over.
std::vector<Life> FindLives(const Plan& plan);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_LIVES_H_
