// For tests: the templates for devices, one at a time.
#ifndef INGOT_COMPILER_SCHEDULES_GPU_TEST_TEMPLATES_H_
#define INGOT_COMPILER_SCHEDULES_GPU_TEST_TEMPLATES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/machine/machine_model.h"
#include "compiler/schedules/choose.h"
#include "compiler/schedules/gpu/templates.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te::gpu {

// The template of that name; a failure of the test where there is none.
inline ScheduleTemplate TemplateNamed(absl::string_view name) {
  for (const ScheduleTemplate& t : GpuTemplates()) {
    if (t.name == name) return t;
  }
  ADD_FAILURE() << "there is no template " << name;
  return {};
}

// The name of the template that the machine takes for the first reduction of a
// kernel.
inline std::string TemplateFor(const Kernel& kernel,
                               const MachineModel& machine) {
  const auto schedule = Schedule::Create(kernel.graph, kernel.outputs);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  const std::vector<ScheduleTemplate> templates = GpuTemplates();
  for (Stage* stage : schedule->stages()) {
    if (!stage->IsReduce()) continue;
    const ScheduleSite site{*schedule, *stage, machine};
    return CheapestTemplate(templates, TemplateScope::kAnchor, site)
        .schedule_template->name;
  }
  return "";
}

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_TEST_TEMPLATES_H_
