// A sum that one element of the result reads: that element's work item makes
// it, and it needs no memory.
#include "compiler/schedules/gpu/items.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::gpu {

ScheduleTemplate Sums() {
  ScheduleTemplate t;
  t.name = "gpu.sums";
  t.scope = TemplateScope::kAnchor;
  t.matches = [](const ScheduleSite& site) {
    return !site.stage.axes().empty() &&
           OnlyReader(site.schedule, site.stage) != nullptr;
  };
  t.build = [](Schedule* schedule, Stage* stage, const ScheduleChoice&,
               const MachineModel&) {
    Stage* const reader = OnlyReader(*schedule, *stage);
    const Loop items = FuseAxes(reader);
    reader->Parallel(items);
    stage->ComputeAt(reader, items);
  };
  return t;
}

}  // namespace ingot::te::gpu
