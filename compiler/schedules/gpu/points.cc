// A work item for each element of a result.
#include "compiler/schedules/gpu/items.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::gpu {

ScheduleTemplate Points() {
  ScheduleTemplate t;
  t.name = "gpu.points";
  t.scope = TemplateScope::kStage;
  t.matches = [](const ScheduleSite& site) {
    return !site.stage.IsAttached() && !site.stage.axes().empty() &&
           site.stage.op().kind != OperationKind::kExtern;
  };
  t.build = [](Schedule*, Stage* stage, const ScheduleChoice&,
               const MachineModel&) { stage->Parallel(FuseAxes(stage)); };
  return t;
}

}  // namespace ingot::te::gpu
