// The meaning of relay: a call by the definition of its operator in te, a
// function node by node.
#ifndef INGOT_COMPILER_RELAY_INTERPRETER_EVALUATE_H_
#define INGOT_COMPILER_RELAY_INTERPRETER_EVALUATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"
#include "runtime/tensor_sequence.h"

namespace ingot::relay {

// Whether the call is of constants only: all its operands, and the dimensions
// in its attributes.
bool IsKnown(const Node& node);

// The results of an operator whose operands are all constants and whose types
// have no symbols. Errors name the node. DeadlineExceeded when that takes more
// than about `max_iterations` iterations of loops (0: as many as it takes).
absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Node& node,
                                                 int64_t max_iterations = 0);

// The same on these operands, in the order of the node's inputs, an undefined
// Tensor for one that is left out.
absl::StatusOr<std::vector<Tensor>> EvaluateNode(
    const Node& node, absl::Span<const Tensor> operands,
    int64_t max_iterations = 0);

// Runs a function of `module` without kernels, node by node, on tensors of the
// types that it takes. Symbolic dimensions are bound from their shapes, or as
// bind_dims, branches, loops and operators on sequences bind them. Random
// numbers are those of an executor with seed 0 in its first run. This is the
// meaning of a module and slow: `verify --reference` and tests use it.
// InvalidArgument when an input does not fit;
// what a node reports, with its name.
absl::StatusOr<std::vector<Tensor>> EvaluateFunction(
    const Module& module, const Function& function,
    absl::Span<const Tensor> inputs);

// The same for a function that may take and give sequences.
absl::StatusOr<std::vector<TensorOrSequence>> EvaluateFunctionOnSequences(
    const Module& module, const Function& function,
    absl::Span<const TensorOrSequence> inputs);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_INTERPRETER_EVALUATE_H_
