// One plan, two ways to run it.
#ifndef INGOT_BACKENDS_TESTING_CHECK_MAIN_H_
#define INGOT_BACKENDS_TESTING_CHECK_MAIN_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "loaders/load.h"
#include "runtime/tensor.h"

namespace ingot::testing_support {

// Whether the library of the model, which was linked with its weights, has the
// whole model as one function.
bool HasMain(const LoadedModel& model);

// Runs that function on `inputs`. Internal, naming the output, where it gives
// another bit than what the executor gave, `expected`; else the function's own
// error.
absl::Status CheckMain(const LoadedModel& model,
                       absl::Span<const Tensor> inputs,
                       absl::Span<const Tensor> expected);

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_TESTING_CHECK_MAIN_H_
