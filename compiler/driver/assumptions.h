// The dimensions that operators rely on being equal.
#ifndef INGOT_COMPILER_DRIVER_ASSUMPTIONS_H_
#define INGOT_COMPILER_DRIVER_ASSUMPTIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"
#include "compiler/tir/ir.h"

namespace ingot {

// Finds those of one operator.
absl::StatusOr<std::vector<relay::DimAssumption>> AssumptionsOf(
    const relay::Node& node);

// Finds the assumptions of all operators of a function, and of the functions
// that it calls.
absl::StatusOr<std::vector<relay::DimAssumption>> AssumptionsOf(
    const relay::Module& module, const relay::Function& function);

// Makes a kernel, after all passes, do nothing in a call whose symbolic
// dimensions break what its operators take for granted, and which would thereby
// read outside of its arguments. The plan checks the same before the call, with
// an error; but a plan is data, and code must not depend on it.
void GuardAssumptions(const std::vector<relay::DimAssumption>& assumed,
                      tir::PrimFunc* kernel);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_ASSUMPTIONS_H_
