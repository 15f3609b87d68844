#ifndef INGOT_RUNTIME_EXECUTOR_RESULTS_H_
#define INGOT_RUNTIME_EXECUTOR_RESULTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/c_abi.h"
#include "runtime/executor/step.h"

namespace ingot {

// The results of a step whose shapes only the run tells: those of a branch, a
// loop or a step on sequences.
class StepResults {
 public:
  explicit StepResults(const CallSite& site);

  // Binds the call's symbols to the dimensions of `values`, one for each
  // result, then copies their elements into the results. Sequences are left
  // out. InvalidArgument for a value whose shape is not what the plan says.
  absl::Status Take(absl::Span<const DLTensor> values);

 private:
  struct Bind {
    uint32_t output, dim;
  };

  BoundPlan* const bound_;
  const int phase_;  // that its symbols begin, or 0
  std::vector<Bind> binds_;
  std::vector<int64_t> bound_values_;
  std::vector<const DLTensor*> results_;  // null for sequences
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_RESULTS_H_
