// A reduction: the work item of each element makes it, in registers. An output
// that reads it element by element is made by the same items.
#include <algorithm>

#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"

namespace ingot::te::gpu {
namespace {

// A product whose operands come from memory takes as long as so many of
// registers.
constexpr double kFromMemory = 4;

double Cycles(const ScheduleSite& site) {
  const int64_t cores = std::max(site.machine.group_cores, 1);
  const int64_t elements = OutputElements(&site.stage);
  return kFromMemory * static_cast<double>((elements + cores - 1) / cores) *
         static_cast<double>(TermsOf(&site.stage));
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice&,
           const MachineModel&) {
  if (stage->axes().empty()) {
    SumInBlocks(stage);
    return;
  }
  Stage* out = OnlyReader(*schedule, *stage);
  Stage* sum = stage;
  if (out == nullptr) {
    out = stage;
    sum = schedule->CacheWrite(stage);
  }
  const Loop items = FuseAxes(out);
  out->Parallel(items);
  sum->ComputeAt(out, items);
  SumInBlocks(sum);
}

}  // namespace

ScheduleTemplate Sums() {
  ScheduleTemplate t;
  t.name = "gpu.sums";
  t.scope = TemplateScope::kAnchor;
  t.matches = [](const ScheduleSite& site) { return site.stage.IsReduce(); };
  t.space = [](const ScheduleSite& site) {
    return ScheduleSpace{
        {}, [cycles = Cycles(site)](const ScheduleChoice&) { return cycles; }};
  };
  t.build = Build;
  return t;
}

}  // namespace ingot::te::gpu
