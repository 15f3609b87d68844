// The findings of a tuning as text: which parameters of a schedule's template
// run a kernel fastest on a machine.
//
//   # anything
//   kernel=3f2a… target=llvm/9c41… ingot=0.1.0 operation=0
//       template=cpu.matmul best=vectors=2,rows=6,l2_part=2 ms=0.081
//       estimated=vectors=4,rows=3,l2_part=2 estimated_ms=0.1 threads=1
//
// all of it in one line. Lines that say the same of two measurements may stand
// in one log, of which the last one counts: logs are merged by appending one to
// the other.
#ifndef INGOT_COMPILER_TUNING_TUNING_LOG_H_
#define INGOT_COMPILER_TUNING_TUNING_LOG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::tuning {

// The question that a line answers. All of it must agree, so that what was
// measured on another machine, by another Ingot or of another kernel is just
// not found.
struct TuningKey {
  std::string kernel;  // kernel_key.h has both
  std::string target;
  std::string ingot;      // version
  int64_t operation = 0;  // of the kernel, among those that have parameters
  std::string schedule_template;  // its name

  bool operator<(const TuningKey& o) const {
    return std::tie(kernel, target, ingot, operation, schedule_template) <
           std::tie(o.kernel, o.target, o.ingot, o.operation,
                    o.schedule_template);
  }
};

// The answer: points of the template's space as ScheduleChoice::ToString gives
// them, with commas in place of spaces, and the medians that were measured of
// the whole kernel, in milliseconds.
struct TuningResult {
  std::string best;
  double ms = 0;
  std::string estimated;  // the cost model's choice
  double estimated_ms = 0;
  int64_t threads = 1;  // that it was measured with
};

class TuningLog {
 public:
  // Told of a line, from 1, that makes no sense, and why. It is left out.
  using OnBadLine = std::function<void(int64_t line, absl::string_view why)>;

  // Reads a log, which may come from anywhere. Words of a line that are not
  // known are left alone. `on_bad_line` may be null.
  static TuningLog Parse(absl::string_view text, const OnBadLine& on_bad_line);

  // Null: there is none.
  const TuningResult* Find(const TuningKey& key) const;

  // Takes the place of what it said so far.
  void Add(const TuningKey& key, const TuningResult& result);

  // The lines, in the order of keys: what Parse reads back.
  std::string ToString() const;

  const std::map<TuningKey, TuningResult>& results() const { return results_; }

 private:
  std::map<TuningKey, TuningResult> results_;
};

}  // namespace ingot::tuning

#endif  // INGOT_COMPILER_TUNING_TUNING_LOG_H_
