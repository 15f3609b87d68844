#ifndef INGOT_BACKENDS_TESTING_CHECKED_EXECUTOR_H_
#define INGOT_BACKENDS_TESTING_CHECKED_EXECUTOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"

namespace ingot::testing_support {

// An executor of `model` each of whose successful runs is repeated by the
// model's main function, where its library has one, and fails with Internal if
// that gives another bit.
absl::StatusOr<std::unique_ptr<GraphExecutor>> CreateCheckedExecutor(
    const LoadedModel& model, const ExecutorOptions& options);

}  // namespace ingot::testing_support

#endif  // INGOT_BACKENDS_TESTING_CHECKED_EXECUTOR_H_
