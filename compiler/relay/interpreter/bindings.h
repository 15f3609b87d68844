// Symbols and the numbers that they stand for while a function is evaluated.
// Internal to compiler/relay/interpreter.
#ifndef INGOT_COMPILER_RELAY_INTERPRETER_BINDINGS_H_
#define INGOT_COMPILER_RELAY_INTERPRETER_BINDINGS_H_

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor.h"
#include "runtime/tensor_sequence.h"

namespace ingot::relay {

using Values = std::vector<TensorOrSequence>;

class Bindings {
 public:
  // Binds the symbols that stand alone as a dimension of `type`. Those that
  // have a number already keep it. InvalidArgument when the value is not of
  // the type.
  absl::Status Bind(const TensorType& type, const TensorOrSequence& value);

  // Gives the symbols of a bind_dims the elements of `x`, and returns its
  // result. InvalidArgument for a negative element.
  absl::StatusOr<Values> BindElements(const Node& node, const Tensor& x);

  // Binds symbols that stand alone in the results of a branch, a loop or an
  // operator on sequences and have no number yet.
  absl::Status BindResults(const Node& node, const Values& results);

  // The shape with numbers in place of all bound symbols.
  Shape operator()(const Shape& shape) const;
  // The node with numbers in its types and attributes.
  Node operator()(const Node& node) const;

 private:
  std::map<const tir::Var*, tir::Expr> values_;
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_INTERPRETER_BINDINGS_H_
