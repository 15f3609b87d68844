#include "compiler/tuning/point_search.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_split.h"

namespace ingot::tuning {
namespace {

// Estimates are wrong by less than this.
constexpr double kHopeless = 4;
// A neighbour of the best point is taken as if it cost so much of its cost.
constexpr double kNeighbour = 0.6;
// The search ends after so many points without a gain.
constexpr int64_t kPatience = 20;
// Less is noise.
constexpr double kGain = 0.99;

// Whether two points, as text, differ in one parameter.
bool AreNeighbours(const std::vector<std::string>& a,
                   const std::vector<std::string>& b) {
  int different = 0;
  for (size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
  return different == 1;
}

std::vector<std::string> ParametersOf(const te::ScheduleChoice& point) {
  return absl::StrSplit(point.ToString(), ' ');
}

}  // namespace

PointSearch::PointSearch(std::vector<te::EstimatedPoint> points,
                         te::ScheduleChoice estimated, int64_t trials)
    : trials_(trials), best_(std::move(estimated)) {
  const double least = points.empty() ? 0 : points.front().cost;
  for (te::EstimatedPoint& point : points) {
    if (point.cost > kHopeless * least) break;
    if (point.point == best_) continue;
    points_.push_back({point, ParametersOf(point.point)});
  }
}

double PointSearch::RankOf(const Point& point) const {
  const bool is_neighbour =
      AreNeighbours(point.parameters, ParametersOf(best_));
  return point.estimate.cost * (is_neighbour ? kNeighbour : 1);
}

std::vector<te::ScheduleChoice> PointSearch::Next(size_t most) {
  std::vector<te::ScheduleChoice> next;
  if (measured_ - last_gain_ >= kPatience) return next;
  while (next.size() < most && taken_ < trials_) {
    Point* first = nullptr;
    for (Point& point : points_) {
      if (!point.is_taken &&
          (first == nullptr || RankOf(point) < RankOf(*first))) {
        first = &point;
      }
    }
    if (first == nullptr) break;
    first->is_taken = true;
    ++taken_;
    next.push_back(first->estimate.point);
  }
  return next;
}

void PointSearch::Report(const te::ScheduleChoice& point,
                         double relative_time) {
  ++measured_;
  if (relative_time >= best_time_ * kGain) return;
  best_ = point;
  best_time_ = relative_time;
  last_gain_ = measured_;
}

}  // namespace ingot::tuning
