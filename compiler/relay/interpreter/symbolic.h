// Calls whose operands are small tensors of known numbers and formulas.
// Internal to compiler/relay/interpreter: frontends use known_values.h.
#ifndef INGOT_COMPILER_RELAY_INTERPRETER_SYMBOLIC_H_
#define INGOT_COMPILER_RELAY_INTERPRETER_SYMBOLIC_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "compiler/relay/interpreter/scalar.h"
#include "compiler/relay/ir.h"
#include "runtime/data_type.h"

namespace ingot::relay {

// A small tensor, some of whose elements may be unknown; row-major.
struct Partial {
  DataType dtype;
  std::vector<int64_t> shape;
  std::vector<Scalar> values;
};

// The results of a call, element by element, from the definition of its
// operator in te. `operands` are in the order of the node's inputs; null: none
// of its elements is known. Nothing for a call that has no such definition,
// whose results are too large or of symbolic shape, or that would take long.
std::optional<std::vector<Partial>> EvaluateSymbolic(
    const Node& node, absl::Span<const Partial* const> operands);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_INTERPRETER_SYMBOLIC_H_
