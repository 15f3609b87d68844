// Chooses which template schedules an operation, and with which parameters.
#ifndef INGOT_COMPILER_SCHEDULES_CHOOSE_H_
#define INGOT_COMPILER_SCHEDULES_CHOOSE_H_

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te {

// A template for an operation, with its parameters.
struct TemplateChoice {
  const ScheduleTemplate* schedule_template = nullptr;  // null: none matches
  ScheduleChoice parameters;
  double cost = 0;  // cycles; infinite without an estimate
};

// The point of least cost in the template's space; of points that cost the
// same, the one whose values come first. `t` must match and outlive the result.
TemplateChoice CheapestPoint(const ScheduleTemplate& t,
                             const ScheduleSite& site);

// Among the templates of `scope` that match, the one whose cheapest point costs
// least; of those that cost the same or have no estimate, the first.
TemplateChoice CheapestTemplate(absl::Span<const ScheduleTemplate> templates,
                                TemplateScope scope, const ScheduleSite& site);

// A point with its estimate.
struct EstimatedPoint {
  ScheduleChoice point;
  double cost = 0;  // cycles; 1 for all points of a space without an estimate
};

// Every point of the template's space whose values go together, those of least
// cost first and of equal ones those whose values come first: what a tuner goes
// through.
std::vector<EstimatedPoint> PointsByCost(const ScheduleTemplate& t,
                                         const ScheduleSite& site);

// The same points, those whose values come first in front.
std::vector<ScheduleChoice> AllPoints(const ScheduleTemplate& t,
                                      const ScheduleSite& site);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_SCHEDULES_CHOOSE_H_
