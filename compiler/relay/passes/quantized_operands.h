// Partitioning for targets that compute on quantised values takes an operator
// and what quantises around it as one composite. Private to this
// folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_QUANTIZED_OPERANDS_H_
#define INGOT_COMPILER_RELAY_PASSES_QUANTIZED_OPERANDS_H_

#include <vector>

#include "compiler/relay/ir.h"
#include "compiler/relay/passes/pass.h"

namespace ingot::relay {

// Whether a target does (TargetKind::takes_dequantized).
bool TakesDequantized(const PassContext& context);

// Gives each operator that reads a dequantized value a `dequantize` of its own,
// so that it can be part of a composite: a match holds only what it alone uses.
// Returns whether anything changed; the function wants sorting then.
absl::StatusOr<bool> UnshareDequantize(Function* function);
// The same of some of them, and sorts.
absl::Status UnshareDequantize(Function* function,
                               const std::vector<Node*>& shared);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_QUANTIZED_OPERANDS_H_
