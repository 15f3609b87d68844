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
#include "compiler/te/tags.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/arith/simplify.h"
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

// `data` with so many zeros before and after dimension `first` and those that
// follow it, `count` in all.
inline Tensor Padded(Graph* graph, const Tensor& data, size_t first,
                     size_t count, int64_t pad) {
  std::vector<Expr> shape = data.shape();
  for (size_t d = first; d < first + count; ++d) {
    shape[d] = tir::Simplify(shape[d] + I(2 * pad));
  }
  return graph->Compute(
      "pad", shape,
      [&](const Indices& i) {
        Indices at = i;
        Expr inside = tir::MakeBool(true);
        for (size_t d = first; d < first + count; ++d) {
          at[d] = i[d] - I(pad);
          inside = tir::And(inside,
                            tir::And(tir::Ge(i[d], I(pad)),
                                     tir::Lt(i[d], data.shape()[d] + I(pad))));
        }
        return tir::MakeSelect(inside, data(at),
                               tir::MakeConst(data.dtype(), 0));
      },
      {{kPad, "1"}});
}

}  // namespace ingot::te::gpu

#endif  // INGOT_COMPILER_SCHEDULES_GPU_TEST_TEMPLATES_H_
