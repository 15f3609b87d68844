// Loads at indices that the caller's data gives. Internal to
// compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_CLAMPED_LOAD_H_
#define INGOT_COMPILER_RELAY_OPS_CLAMPED_LOAD_H_

#include <vector>

#include "compiler/relay/ops/common.h"

namespace ingot::relay::ops {

// x(at), where the indices into `dims` were clamped to these dimensions, as
// SafeIndex does. Clamping finds no element where one of them is empty: the
// result is 0 then, and nothing is read.
Expr ClampedLoad(const te::Tensor& x, const Indices& at,
                 const std::vector<int>& dims);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_CLAMPED_LOAD_H_
