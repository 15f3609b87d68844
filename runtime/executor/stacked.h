#ifndef INGOT_RUNTIME_EXECUTOR_STACKED_H_
#define INGOT_RUNTIME_EXECUTOR_STACKED_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/c_abi.h"
#include "runtime/executor/step.h"

namespace ingot {

// The values that the iterations of a loop give for one result, stacked along a
// new first dimension.
class StackedValues {
 public:
  // The rows of result `result` of the loop at `site`, which are at `value`
  // after each iteration.
  StackedValues(const CallSite& site, int result, const DLTensor* value);

  void Clear();
  // Adds the value of an iteration. InvalidArgument when its shape is not that
  // of those before, ResourceExhausted when all of them take too much.
  absl::Status Add(int64_t iteration);
  // All of them, as a tensor that is valid until the next Clear. After no
  // iteration, a dimension that one would tell is 0.
  DLTensor Whole(int64_t iterations);

 private:
  const BoundPlan* const bound_;
  const int result_;
  const uint32_t tensor_;
  const int next_phase_;
  const uint64_t max_bytes_;
  const DLTensor* const value_;
  std::vector<int64_t> dims_;  // of the whole; empty before the first value
  std::vector<char> elements_;
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_STACKED_H_
