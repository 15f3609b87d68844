// Operations at each point of a tensor: loops in memory's order, vectors in the
// innermost one, threads over the outer ones.
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::cpu {

ScheduleTemplate Elementwise() {
  ScheduleTemplate t;
  t.name = "cpu.elementwise";
  t.scope = TemplateScope::kStage;
  t.matches = [](const ScheduleSite& site) {
    return site.stage.op().kind == OperationKind::kCompute;
  };
  t.build = [](Schedule*, Stage* stage, const ScheduleChoice&,
               const MachineModel& machine) {
    ScheduleElementwise(stage, machine);
  };
  return t;
}

}  // namespace ingot::te::cpu
