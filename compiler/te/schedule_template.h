// Templates of schedules: each knows how to run operations of one form on one
// kind of machine, and leaves some numbers open, such as the size of a tile.
//
//   ScheduleTemplate rows;
//   rows.name = "my_dsp.rows";
//   rows.matches = [](const ScheduleSite& site) {
//     return site.stage.IsReduce() && site.stage.axes().size() == 1;
//   };
//   rows.space = [](const ScheduleSite& site) {
//     return ScheduleSpace{{{"lanes", {8, 4, 16}}}};
//   };
//   rows.build = [](Schedule* schedule, Stage* stage, const ScheduleChoice& c,
//                   const MachineModel&) {
//     auto [outer, inner] = stage->Split(stage->axis(0), c.Get("lanes"));
//     stage->Vectorize(inner);
//   };
//
// A target lists its templates (TargetKind::templates), and
// compiler/schedules/schedule_kernel.h applies them to kernels: of the
// templates that match an operation it takes the one that costs least, with the
// parameters that cost least. A tuner measures other points of the same space.
//
// All functions of a template may be called from several threads at once.
#ifndef INGOT_COMPILER_TE_SCHEDULE_TEMPLATE_H_
#define INGOT_COMPILER_TE_SCHEDULE_TEMPLATE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/machine/machine_model.h"
#include "compiler/te/schedule.h"

namespace ingot::te {

// A number that a template leaves open, and the values worth trying: at least
// one. The order counts where a cost does not decide: the first is preferred.
struct ScheduleParameter {
  std::string name;
  std::vector<int64_t> values;
};

// One point of a space: a value for each parameter, in the space's order.
class ScheduleChoice {
 public:
  // The first value of each.
  explicit ScheduleChoice(absl::Span<const ScheduleParameter> parameters);
  ScheduleChoice() = default;

  // The value of a parameter. Aborts where the space has none of this
  // name, which is a bug of the template.
  int64_t Get(absl::string_view name) const;
  // Changes the value of a parameter of the space.
  void Set(absl::string_view name, int64_t value);
  // "rows=6 vectors=4", for logs and messages.
  std::string ToString() const;
  bool operator==(const ScheduleChoice& o) const {
    return values_ == o.values_;
  }

 private:
  std::vector<std::pair<std::string, int64_t>> values_;
};

// The parameters of a template for one operation: all combinations of their
// values.
struct ScheduleSpace {
  std::vector<ScheduleParameter> parameters;
  // Estimated cycles that one core needs for the operation; infinite where the
  // values do not go together, such as a tile that does not fit the registers.
  // Only costs of one operation are compared, with those of other points and of
  // other templates. Null: no estimate; the first values are taken, and any
  // template with an estimate is preferred. Does not outlive the site.
  std::function<double(const ScheduleChoice&)> cost;
};

// The site that a template is asked about: an operation of a kernel, before any
// verb on it.
struct ScheduleSite {
  const Schedule& schedule;  // of the whole kernel; cheap stages are inlined
  const Stage& stage;
  const MachineModel& machine;
};

// The part of a kernel that a template decides about. Kernels are scheduled in
// this order.
enum class TemplateScope {
  // A reduction that dominates its kernel, such as a convolution, with what the
  // template joins to its loops. Asked about each reduction.
  kAnchor,
  // The whole of a kernel that no anchor was found in. Asked at its outputs.
  kKernel,
  // An operation that no other template has scheduled. Asked about each.
  kStage,
};

struct ScheduleTemplate {
  std::string name;  // "cpu.matmul": the machine's kind, then the family
  TemplateScope scope = TemplateScope::kAnchor;
  // Whether it can schedule the operation on that machine.
  std::function<bool(const ScheduleSite&)> matches;
  // Its parameters for that operation. Null: it has none, and no estimate.
  std::function<ScheduleSpace(const ScheduleSite&)> space;
  // Applies the verbs to `stage` and to what it joins to it. Misuse of verbs is
  // kept in the schedule's status.
  std::function<void(Schedule*, Stage* stage, const ScheduleChoice&,
                     const MachineModel&)>
      build;
};

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_SCHEDULE_TEMPLATE_H_
