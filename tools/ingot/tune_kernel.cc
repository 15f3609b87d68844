#include "tools/ingot/tune_kernel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "compiler/tuning/logged_parameters.h"
#include "compiler/tuning/point_search.h"

namespace ingot {
namespace {

// Candidates in one library, beside what they are compared with: linking and
// loading then take less than making them.
constexpr size_t kBatch = 7;

class KernelTuner {
 public:
  KernelTuner(const TunableKernel& kernel, const TuneLimits& limits,
              std::vector<KernelOperand> operands, TuneSubject* subject,
              const OnPoints& on_points)
      : kernel_(kernel),
        limits_(limits),
        operands_(std::move(operands)),
        subject_(subject),
        on_points_(on_points) {
    for (const TunableOperation& operation : kernel.operations) {
      estimated_.push_back(operation.estimated);
    }
    tuned_.best = estimated_;
  }

  absl::StatusOr<TunedKernel> Run() {
    double best = 1;
    for (size_t o = 0; o < kernel_.operations.size(); ++o) {
      INGOT_RETURN_IF_ERROR(Search(o, &best));
    }
    INGOT_RETURN_IF_ERROR(Confirm());
    return std::move(tuned_);
  }

 private:
  bool IsOver() const {
    return limits_.should_stop() || absl::Now() >= limits_.deadline;
  }

  absl::StatusOr<std::vector<CandidateTime>> Time(
      const std::vector<KernelPoint>& points, const CandidateRuns& runs) {
    INGOT_ASSIGN_OR_RETURN(const LoadedModel model,
                           CompileCandidates(kernel_, points, subject_));
    return TimeCandidates(model, points.size(), operands_, runs, *subject_);
  }

  // The best point of operation `o`, with those of the others as they are.
  // `best` is the time of what is best so far by that of the estimated one.
  absl::Status Search(size_t o, double* best) {
    const TunableOperation& operation = kernel_.operations[o];
    tuning::PointSearch search(operation.points, operation.estimated,
                               limits_.trials);
    while (!IsOver()) {
      const std::vector<te::ScheduleChoice> next = search.Next(kBatch);
      if (next.empty()) break;
      // The first is what all are compared with.
      std::vector<KernelPoint> points(next.size() + 1, tuned_.best);
      points[0][o] = operation.estimated;
      for (size_t i = 0; i < next.size(); ++i) points[i + 1][o] = next[i];
      INGOT_ASSIGN_OR_RETURN(const std::vector<CandidateTime> times,
                             Time(points, CandidateRuns()));
      for (size_t i = 0; i < next.size(); ++i) {
        search.Report(next[i], times[i + 1].relative);
        if (times[i + 1].wrong.empty()) continue;
        tuned_.wrong.push_back(absl::StrCat(operation.schedule_template, " ",
                                            next[i].ToString(), ": ",
                                            times[i + 1].wrong));
      }
      tuned_.measured += static_cast<int64_t>(next.size());
      on_points_(tuned_.measured, *best * search.best_time());
    }
    tuned_.best[o] = search.best();
    *best *= search.best_time();
    return absl::OkStatus();
  }

  // The fastest of many measurements was also a lucky one: once more, for
  // longer, and between two copies of what it is compared with, both of which
  // it must be faster than.
  absl::Status Confirm() {
    // A gain that is less than this could be noise, and is not worth a line
    // that differs from machine to machine.
    constexpr double kClearly = 0.98;
    CandidateRuns longer;
    longer.few = 15;
    longer.most = 60;
    longer.seconds = 1.2;
    std::vector<KernelPoint> points = {estimated_};
    const bool is_other = tuned_.best != estimated_;
    if (is_other) points = {estimated_, tuned_.best, estimated_};
    INGOT_ASSIGN_OR_RETURN(const std::vector<CandidateTime> times,
                           Time(points, longer));
    tuned_.estimated_seconds = tuned_.best_seconds = times[0].seconds;
    if (!is_other) return absl::OkStatus();
    const double relative =
        std::max(times[1].relative, times[1].relative / times[2].relative);
    if (relative < kClearly) {
      tuned_.best_seconds = times[0].seconds * relative;
    } else {
      tuned_.best = estimated_;
    }
    return absl::OkStatus();
  }

  const TunableKernel& kernel_;
  const TuneLimits& limits_;
  const std::vector<KernelOperand> operands_;
  TuneSubject* const subject_;
  const OnPoints& on_points_;
  KernelPoint estimated_;
  TunedKernel tuned_;
};

}  // namespace

absl::StatusOr<TunedKernel> TuneKernel(
    const TunableKernel& kernel, absl::Span<const TensorOrSequence> inputs,
    const TuneLimits& limits, TuneSubject* subject, const OnPoints& on_points) {
  INGOT_ASSIGN_OR_RETURN(std::vector<KernelOperand> operands,
                         subject->OperandsOf(kernel, inputs));
  return KernelTuner(kernel, limits, std::move(operands), subject, on_points)
      .Run();
}

void AddToLog(const TunableKernel& kernel, const TunedKernel& tuned,
              int64_t threads, tuning::TuningLog* log) {
  for (size_t o = 0; o < kernel.operations.size(); ++o) {
    const TunableOperation& operation = kernel.operations[o];
    tuning::TuningKey key = kernel.key;
    key.operation = static_cast<int64_t>(o);
    key.schedule_template = operation.schedule_template;
    log->Add(key, {tuning::PointText(tuned.best[o]), tuned.best_seconds * 1e3,
                   tuning::PointText(operation.estimated),
                   tuned.estimated_seconds * 1e3, threads});
  }
}

}  // namespace ingot
