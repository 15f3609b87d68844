// The results that a model should have, by the interpreter that defines the
// meaning of every operator.

#ifndef INGOT_TOOLS_INGOT_REFERENCE_H_
#define INGOT_TOOLS_INGOT_REFERENCE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/frontends/frontend.h"
#include "runtime/tensor_sequence.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/output.h"

namespace ingot {

// The outputs of the model at `path` for `inputs`, in the model's order.
// Nothing of it is optimised or compiled, so it takes its time.
absl::StatusOr<std::vector<TensorOrSequence>> EvaluateReference(
    absl::string_view path, const FrontendRegistry& frontends,
    absl::Span<const TensorOrSequence> inputs, const InputShapes& shapes,
    Progress* progress);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_REFERENCE_H_
