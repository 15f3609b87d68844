// Which points of a template's space to measure.
#ifndef INGOT_COMPILER_TUNING_POINT_SEARCH_H_
#define INGOT_COMPILER_TUNING_POINT_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/schedules/choose.h"
#include "compiler/te/schedule_template.h"

namespace ingot::tuning {

// A search that begins where the cost model would, and takes points in the
// order of their cost, but those that differ from the best so far in one
// parameter earlier. Points that cost several times the least are left out, and
// it ends when many in a row were no better. Times are relative to that of the
// cost model's choice, measured by turns with it, so that it does not matter
// how fast the machine was meanwhile.
class PointSearch {
 public:
  // `points` as PointsByCost gives them; `estimated` is the cost model's
  // choice, and at most `trials` others are measured.
  PointSearch(std::vector<te::EstimatedPoint> points,
              te::ScheduleChoice estimated, int64_t trials);

  // At most so many points to measure next; none: the search is over.
  std::vector<te::ScheduleChoice> Next(size_t most);

  // Takes the measurement of one of them: its time by that of the estimated
  // one; infinite for one that cannot be used.
  void Report(const te::ScheduleChoice& point, double relative_time);

  const te::ScheduleChoice& best() const { return best_; }
  double best_time() const { return best_time_; }  // 1: the estimated one
  int64_t measured() const { return measured_; }

 private:
  struct Point {
    te::EstimatedPoint estimate;
    std::vector<std::string> parameters;  // "rows=6"
    bool is_taken = false;
  };

  // A smaller rank is taken earlier.
  double RankOf(const Point& point) const;

  std::vector<Point> points_;
  const int64_t trials_;
  te::ScheduleChoice best_;
  double best_time_ = 1;
  int64_t taken_ = 0;
  int64_t measured_ = 0;
  int64_t last_gain_ = 0;  // of measured_
};

}  // namespace ingot::tuning

#endif  // INGOT_COMPILER_TUNING_POINT_SEARCH_H_
