// Finds where the conditions in a value change as one of its axes grows.
#ifndef INGOT_COMPILER_TE_CONDITIONS_H_
#define INGOT_COMPILER_TE_CONDITIONS_H_

#include <vector>

#include "compiler/te/side.h"
#include "compiler/te/te.h"

namespace ingot::te {

// The values v of axis `axis` such that some comparison in `op.value` of that
// axis with something that depends on no axis differs between v - 1 and v.
// Each once, in order of appearance.
std::vector<Affine> ConditionCuts(const Operation& op, int axis,
                                  const Bounds& bounds);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_CONDITIONS_H_
