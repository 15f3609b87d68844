// Einsum equations against the shapes of their operands.
#ifndef INGOT_COMPILER_RELAY_EINSUM_H_
#define INGOT_COMPILER_RELAY_EINSUM_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

struct EinsumPlan {
  // The source of the index of one dimension of an operand.
  struct Source {
    bool broadcast = false;  // of extent 1 against something larger: index 0
    bool reduced = false;    // a summed label, else one of the output's
    int index = 0;
  };
  std::vector<std::vector<Source>> operands;
  Shape output;
  Shape summed;  // extents of the labels summed over
};

// Numpy's rules, with "..." and without an arrow too (labels that occur once,
// in alphabetic order). InvalidArgument says what does not fit.
absl::StatusOr<EinsumPlan> PlanEinsum(
    absl::string_view equation, absl::Span<const Shape> shapes,
    std::vector<DimAssumption>* assumed = nullptr);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_EINSUM_H_
