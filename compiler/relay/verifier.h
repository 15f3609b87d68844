// Checks what every pass may rely on, after every pass.
#ifndef INGOT_COMPILER_RELAY_VERIFIER_H_
#define INGOT_COMPILER_RELAY_VERIFIER_H_

#include "absl/status/status.h"
#include "compiler/relay/ir.h"

namespace ingot::relay {

// Checks that in each function nodes stand in topological order and have unique
// names; that inputs, constants, calls and outputs are well formed; that
// operators take their operands and attributes and give the types noted; that
// calls agree with the functions they name, without recursion. Internal (a pass
// is wrong) names the function and the node.
absl::Status Verify(const Module& module);

// Whether a branch or loop has the attributes that it needs, and no other.
// InvalidArgument says what is wrong.
absl::Status CheckControlAttrs(NodeKind kind, const Attrs& attrs);

// Whether two types may be one: the same element type and rank, and no
// dimension provably different. Symbolic dimensions that only a run can tell
// apart pass.
bool Agrees(const TensorType& a, const TensorType& b);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_VERIFIER_H_
