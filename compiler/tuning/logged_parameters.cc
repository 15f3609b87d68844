#include "compiler/tuning/logged_parameters.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_replace.h"
#include "artifact/sha256.h"
#include "base/version.h"
#include "compiler/schedules/choose.h"

namespace ingot::tuning {

std::string PointText(const te::ScheduleChoice& point) {
  return absl::StrReplaceAll(point.ToString(), {{" ", ","}});
}

LoggedParameters::LoggedParameters(absl::string_view text,
                                   const TuningLog::OnBadLine& on_bad_line)
    : log_(TuningLog::Parse(text, on_bad_line)), digest_(Sha256Hex(text)) {}

te::ParameterPicker LoggedParameters::PickerFor(const KernelToSchedule& kernel,
                                                LogUse* use) const {
  if (kernel.machine.reproducible) return nullptr;
  TuningKey key;
  key.kernel = KernelKey(kernel.graph, kernel.outputs);
  key.target = TargetKey(kernel.target, kernel.machine);
  key.ingot = kIngotVersion;
  return [this, use, key, is_logged = false](
             const te::ScheduleTemplate& t, const te::ScheduleSite& site,
             const te::ScheduleChoice& cheapest) mutable {
    const std::vector<te::ScheduleChoice> points = te::AllPoints(t, site);
    if (points.size() < 2) return cheapest;
    if (key.operation == 0) ++use->kernels;
    key.schedule_template = t.name;
    const TuningResult* const result = log_.Find(key);
    ++key.operation;
    if (result == nullptr) return cheapest;
    const auto point = std::find_if(points.begin(), points.end(),
                                    [result](const te::ScheduleChoice& each) {
                                      return PointText(each) == result->best;
                                    });
    if (point == points.end()) return cheapest;
    if (!is_logged) ++use->logged;
    is_logged = true;
    return *point;
  };
}

}  // namespace ingot::tuning
