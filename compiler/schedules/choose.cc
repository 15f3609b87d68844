#include "compiler/schedules/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace ingot::te {
namespace {

constexpr double kNoEstimate = std::numeric_limits<double>::infinity();

// Calls `visit` with every point of the space. The last parameter varies
// fastest.
void ForEachPoint(absl::Span<const ScheduleParameter> space,
                  const std::function<void(const ScheduleChoice&)>& visit) {
  std::vector<size_t> at(space.size(), 0);
  ScheduleChoice point(space);
  for (;;) {
    visit(point);
    size_t p = space.size();
    for (; p > 0; --p) {
      const ScheduleParameter& parameter = space[p - 1];
      at[p - 1] = (at[p - 1] + 1) % parameter.values.size();
      point.Set(parameter.name, parameter.values[at[p - 1]]);
      if (at[p - 1] != 0) break;
    }
    if (p == 0) return;
  }
}

ScheduleSpace SpaceOf(const ScheduleTemplate& t, const ScheduleSite& site) {
  return t.space == nullptr ? ScheduleSpace() : t.space(site);
}

// Those whose values go together, first values first.
std::vector<EstimatedPoint> EstimatedPoints(const ScheduleTemplate& t,
                                            const ScheduleSite& site) {
  const ScheduleSpace space = SpaceOf(t, site);
  std::vector<EstimatedPoint> points;
  ForEachPoint(space.parameters, [&](const ScheduleChoice& point) {
    const double cost = space.cost == nullptr ? 1 : space.cost(point);
    if (!std::isinf(cost)) points.push_back({point, cost});
  });
  return points;
}

}  // namespace

TemplateChoice CheapestPoint(const ScheduleTemplate& t,
                             const ScheduleSite& site) {
  const ScheduleSpace space = SpaceOf(t, site);
  TemplateChoice best{&t, ScheduleChoice(space.parameters), kNoEstimate};
  if (space.cost == nullptr) return best;
  ForEachPoint(space.parameters, [&](const ScheduleChoice& point) {
    const double cost = space.cost(point);
    if (cost < best.cost) best = {&t, point, cost};
  });
  return best;
}

TemplateChoice CheapestTemplate(absl::Span<const ScheduleTemplate> templates,
                                TemplateScope scope, const ScheduleSite& site) {
  TemplateChoice best;
  for (const ScheduleTemplate& t : templates) {
    if (t.scope != scope || !t.matches(site)) continue;
    TemplateChoice choice = CheapestPoint(t, site);
    if (best.schedule_template == nullptr || choice.cost < best.cost) {
      best = std::move(choice);
    }
  }
  return best;
}

std::vector<ScheduleChoice> AllPoints(const ScheduleTemplate& t,
                                      const ScheduleSite& site) {
  std::vector<ScheduleChoice> points;
  for (EstimatedPoint& each : EstimatedPoints(t, site)) {
    points.push_back(std::move(each.point));
  }
  return points;
}

std::vector<EstimatedPoint> PointsByCost(const ScheduleTemplate& t,
                                         const ScheduleSite& site) {
  const std::vector<EstimatedPoint> points = EstimatedPoints(t, site);
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&points](size_t a, size_t b) {
    return points[a].cost != points[b].cost ? points[a].cost < points[b].cost
                                            : a < b;
  });
  std::vector<EstimatedPoint> sorted;
  for (const size_t i : order) sorted.push_back(points[i]);
  return sorted;
}

}  // namespace ingot::te
