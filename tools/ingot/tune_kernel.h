// The search for the fastest schedule of one kernel.
#ifndef INGOT_TOOLS_INGOT_TUNE_KERNEL_H_
#define INGOT_TOOLS_INGOT_TUNE_KERNEL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "compiler/tuning/tuning_log.h"
#include "runtime/tensor_sequence.h"
#include "tools/ingot/tune_candidates.h"
#include "tools/ingot/tune_subject.h"

namespace ingot {

struct TuneLimits {
  int64_t trials = 0;  // points of each operation
  absl::Time deadline;
  // Asked between measurements; true ends the search with what was found.
  std::function<bool()> should_stop;
};

struct TunedKernel {
  KernelPoint best;  // that of the cost model where none is clearly faster
  double estimated_seconds = 0;  // of a call, with the cost model's point
  double best_seconds = 0;
  int64_t measured = 0;            // points
  std::vector<std::string> wrong;  // points that computed something else

  double ratio() const { return best_seconds / estimated_seconds; }
};

// Told how many points were measured, and the time of the best by that of the
// cost model's point.
using OnPoints = std::function<void(int64_t measured, double best)>;

// Searches one operation of the kernel after the other, then measures what it
// found once more, and longer, beside the cost model's point: only what is
// faster then, too, is taken. Errors: those of compiling, loading and running
// the kernel alone.
absl::StatusOr<TunedKernel> TuneKernel(
    const TunableKernel& kernel, absl::Span<const TensorOrSequence> inputs,
    const TuneLimits& limits, TuneSubject* subject, const OnPoints& on_points);

// Adds what was found, a line for each operation.
void AddToLog(const TunableKernel& kernel, const TunedKernel& tuned,
              int64_t threads, tuning::TuningLog* log);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_TUNE_KERNEL_H_
