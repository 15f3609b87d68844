// Transpositions, whatever else is computed at each point.
#include "compiler/schedules/cpu/transposition.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::cpu {

ScheduleTemplate Transpose() {
  ScheduleTemplate t;
  t.name = "cpu.transpose";
  t.scope = TemplateScope::kStage;
  t.matches = [](const ScheduleSite& site) {
    return IsTransposition(site.stage, site.machine);
  };
  t.build = [](Schedule*, Stage* stage, const ScheduleChoice&,
               const MachineModel& machine) {
    ScheduleTransposition(stage, machine);
  };
  return t;
}

}  // namespace ingot::te::cpu
