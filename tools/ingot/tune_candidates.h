// Several schedules of one kernel, side by side in one library, and how long
// each takes.
#ifndef INGOT_TOOLS_INGOT_TUNE_CANDIDATES_H_
#define INGOT_TOOLS_INGOT_TUNE_CANDIDATES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/te/schedule_template.h"
#include "loaders/load.h"
#include "runtime/tensor.h"
#include "tools/ingot/tune_subject.h"

namespace ingot {

// A point for each operation of a kernel.
using KernelPoint = std::vector<te::ScheduleChoice>;

// The kernel at each of these points, as a model whose calls, in this order,
// read the same operands, and loaded. Errors: those of compiling and loading.
absl::StatusOr<LoadedModel> CompileCandidates(
    const TunableKernel& kernel, absl::Span<const KernelPoint> points,
    TuneSubject* subject);

struct CandidateTime {
  double seconds = 0;  // the median
  // The median of the times by the first one's in the same run; infinite for
  // one that computes something else than the first one does.
  double relative = 1;
  std::string wrong;  // the first difference, or empty
};

struct CandidateRuns {
  int few = 5;  // after which they end where none but the first can be fastest
  int most = 25;
  double seconds = 0.6;  // not many more
};

// Runs the calls of `model` by turns, after one run that is not counted, in
// which the results are compared. Between the calls as many bytes are read as
// the model's constants have, so that a kernel finds its weights where it finds
// them in the model, and then its other operands again; a device keeps in its
// caches what it likes. Errors: the executor's.
absl::StatusOr<std::vector<CandidateTime>> TimeCandidates(
    const LoadedModel& model, size_t count,
    absl::Span<const KernelOperand> operands, const CandidateRuns& runs,
    const TuneSubject& subject);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_TUNE_CANDIDATES_H_
