#include "compiler/schedules/schedule_kernel.h"

#include <vector>

#include "compiler/schedules/choose.h"
#include "compiler/schedules/inlining.h"

namespace ingot::te {
namespace {

// Whether a template has decided on the stage's loops, or others are inside
// them.
bool IsScheduled(const Schedule& schedule, const Stage* stage) {
  if (!stage->IsUntouched()) return true;
  for (const Stage* other : schedule.stages()) {
    if (other->consumer() == stage) return true;
  }
  return false;
}

// Applies templates to one kernel, scope by scope.
class KernelScheduler {
 public:
  KernelScheduler(Schedule* schedule,
                  absl::Span<const ScheduleTemplate> templates,
                  const MachineModel& machine, const ParameterPicker& pick)
      : schedule_(schedule),
        templates_(templates),
        machine_(machine),
        pick_(pick) {}

  void Run() {
    InlineCheap(schedule_, machine_);
    if (!ScheduleAnchors()) ScheduleWhole();
    // Stages that anchors and others left.
    for (Stage* stage : schedule_->stages()) {
      if (!IsScheduled(*schedule_, stage)) {
        Apply(TemplateScope::kStage, stage);
      }
    }
  }

 private:
  // Returns whether there was any.
  bool ScheduleAnchors() {
    bool found = false;
    std::vector<Tensor> results;
    for (Stage* stage : schedule_->stages()) results.push_back(stage->output());
    for (const Tensor& result : results) {
      Stage* stage = schedule_->Find(result);  // null: an anchor did without it
      if (stage == nullptr || !stage->IsReduce() || stage->IsAttached()) {
        continue;
      }
      found = Apply(TemplateScope::kAnchor, stage) || found;
    }
    return found;
  }

  void ScheduleWhole() {
    for (Stage* stage : schedule_->stages()) {
      if (stage->is_output() && Apply(TemplateScope::kKernel, stage)) return;
    }
  }

  // Schedules the stage by the template of that scope that costs least. False
  // when none matches.
  bool Apply(TemplateScope scope, Stage* stage) {
    const ScheduleSite site{*schedule_, *stage, machine_};
    TemplateChoice choice = CheapestTemplate(templates_, scope, site);
    if (choice.schedule_template == nullptr) return false;
    if (pick_ != nullptr) {
      choice.parameters =
          pick_(*choice.schedule_template, site, choice.parameters);
    }
    choice.schedule_template->build(schedule_, stage, choice.parameters,
                                    machine_);
    return true;
  }

  Schedule* const schedule_;
  const absl::Span<const ScheduleTemplate> templates_;
  const MachineModel& machine_;
  const ParameterPicker& pick_;
};

// Whether nothing is computed, so that there is nothing to share out either.
bool IsEmpty(absl::Span<const Tensor> outputs) {
  for (const Tensor& output : outputs) {
    for (const Expr& extent : output.shape()) {
      if (tir::IsConstInt(extent, 0)) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<Schedule> ScheduleKernel(
    const Graph& graph, absl::Span<const Tensor> outputs,
    absl::Span<const ScheduleTemplate> templates, const MachineModel& machine,
    const ParameterPicker& pick) {
  absl::StatusOr<Schedule> schedule = Schedule::Create(graph, outputs);
  if (!schedule.ok() || IsEmpty(outputs)) return schedule;
  KernelScheduler(&*schedule, templates, machine, pick).Run();
  if (!schedule->status().ok()) return schedule->status();
  return schedule;
}

}  // namespace ingot::te
