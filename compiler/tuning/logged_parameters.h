// Compiles with what a log says.
#ifndef INGOT_COMPILER_TUNING_LOGGED_PARAMETERS_H_
#define INGOT_COMPILER_TUNING_LOGGED_PARAMETERS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/schedule_template.h"
#include "compiler/tuning/kernel.h"
#include "compiler/tuning/tuning_log.h"

namespace ingot::tuning {

// The options in the provenance of a set that was compiled with a log: its
// digest, and "7 of 12", how many of the kernels that had a choice took it from
// there.
inline constexpr char kTuningLogOption[] = "tuning-log";
inline constexpr char kTunedKernelsOption[] = "tuned-kernels";

// How much of a log a compilation used.
struct LogUse {
  int kernels = 0;  // that had a choice
  int logged = 0;   // those of them with parameters from the log
};

// Gives kernels their parameters from a log. Operations that the log does not
// know keep what the cost model chooses, as do those for which it names no
// point of the template's space, and all of a target that promises the same
// bits everywhere: what one machine measured must not decide there.
//
// Immutable; several compilations may share it.
class LoggedParameters {
 public:
  // `text` is a log, as TuningLog::Parse takes it.
  explicit LoggedParameters(absl::string_view text,
                            const TuningLog::OnBadLine& on_bad_line = nullptr);

  // The picker for one kernel, which counts it in `use`. Refers to both.
  te::ParameterPicker PickerFor(const KernelToSchedule& kernel,
                                LogUse* use) const;

  // SHA-256 of the text, for the provenance.
  const std::string& digest() const { return digest_; }

 private:
  const TuningLog log_;
  const std::string digest_;
};

// A point as a log has it: "vectors=2,rows=6".
std::string PointText(const te::ScheduleChoice& point);

}  // namespace ingot::tuning

#endif  // INGOT_COMPILER_TUNING_LOGGED_PARAMETERS_H_
