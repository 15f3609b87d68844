#ifndef INGOT_COMPILER_DRIVER_PLAN_NAME_DIMS_H_
#define INGOT_COMPILER_DRIVER_PLAN_NAME_DIMS_H_

#include "runtime/plan/plan.pb.h"

namespace ingot {

// Makes symbols with values of what the dimensions and sizes of a large plan
// have in common, so that it is read, checked and computed once: networks
// without fixed sizes repeat long expressions in each layer. Inputs, outputs,
// states and requirements, which people read, keep theirs, and so does a plan
// that is short anyway. Its bodies are left alone. Its phases must have been
// assigned; they stay what they are.
void NameDims(Plan* plan);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_PLAN_NAME_DIMS_H_
