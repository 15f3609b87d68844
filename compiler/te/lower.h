// From a scheduled graph to loops.
#ifndef INGOT_COMPILER_TE_LOWER_H_
#define INGOT_COMPILER_TE_LOWER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/te/schedule.h"
#include "compiler/te/te.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

// Makes the function that computes `outputs` (each once, in this order) from
// `inputs` (placeholders of `graph`; unused ones are allowed) with the loops
// that `schedule`, made for the same graph and outputs, describes. Parameters
// are the buffers of inputs and outputs, then workspaces for intermediate
// results that do not live on the stack. Loops keep their kinds: vectorizing
// and unrolling are tir passes.
//
// InvalidArgument: tensors that are not the graph's, or an operand missing
// from `inputs`. FailedPrecondition: the schedule cannot be followed, for
// example a stage computed inside a loop that not all of its readers are in.
absl::StatusOr<tir::PrimFunc> Lower(absl::string_view name, const Graph& graph,
                                    absl::Span<const Tensor> inputs,
                                    absl::Span<const Tensor> outputs,
                                    const Schedule& schedule);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_LOWER_H_
