// From a kernel's definition to a schedule, by a target's templates.
#ifndef INGOT_COMPILER_SCHEDULES_SCHEDULE_KERNEL_H_
#define INGOT_COMPILER_SCHEDULES_SCHEDULE_KERNEL_H_

#include <functional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/machine/machine_model.h"
#include "compiler/te/schedule.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/te.h"

namespace ingot::te {

// Picks the parameters for a template that was chosen; `cheapest` is what the
// template's own estimate says. Must return a point of the template's space.
using ParameterPicker =
    std::function<ScheduleChoice(const ScheduleTemplate&, const ScheduleSite&,
                                 const ScheduleChoice& cheapest)>;

// A schedule for one kernel. Stages that cost little are inlined; then anchors,
// the kernel as a whole where it has none, and what is left get their loops
// from the templates that match and cost least (TemplateScope). An operation
// that no template matches keeps one plain loop per axis, which is always
// right. `pick` overrides the estimates' parameters; null: they decide.
//
// Never fails for a graph that can be lowered at all, unless a template misuses
// a verb; InvalidArgument as Schedule::Create. `graph` must outlive the result.
absl::StatusOr<Schedule> ScheduleKernel(
    const Graph& graph, absl::Span<const Tensor> outputs,
    absl::Span<const ScheduleTemplate> templates, const MachineModel& machine,
    const ParameterPicker& pick = nullptr);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_SCHEDULES_SCHEDULE_KERNEL_H_
