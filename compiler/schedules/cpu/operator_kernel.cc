#include "compiler/schedules/cpu/operator_kernel.h"

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/schedule_kernel.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {

Expr Dimensions::Of(int64_t extent) {
  if (!symbolic_) return tir::MakeInt(extent);
  Expr& symbol = symbols_[extent];
  if (symbol == nullptr) {
    const tir::VarPtr var = tir::MakeVar("n");
    symbol = var;
    values_[var.get()] = extent;
  }
  return symbol;
}

std::vector<Expr> Dimensions::Of(const std::vector<int64_t>& extents) {
  std::vector<Expr> shape;
  for (int64_t extent : extents) shape.push_back(Of(extent));
  return shape;
}

void DefineOperator(absl::string_view op,
                    const std::vector<relay::TensorType>& operands,
                    const relay::Attrs& attrs, Kernel* kernel) {
  relay::Function function("main");
  std::vector<relay::Value> values;
  for (const relay::TensorType& type : operands) {
    const std::string name = absl::StrCat("x", values.size());
    values.push_back(relay::Value{function.AddInput(name, type)});
    kernel->inputs.push_back(
        kernel->graph.Placeholder(name, type.dtype, type.shape));
  }
  const auto node = function.AddOp(op, "y", values, attrs);
  ASSERT_TRUE(node.ok()) << node.status();
  const auto results = (*node)->op->compute(relay::ComputeContext{
      kernel->graph, kernel->inputs, (*node)->attrs, (*node)->outputs, "y"});
  ASSERT_TRUE(results.ok()) << results.status();
  kernel->outputs = *results;
}

ingot::Tensor RunScheduled(const Kernel& kernel, const MachineModel& machine,
                           const std::vector<ingot::Tensor>& inputs,
                           const DimValues& dims, absl::string_view name,
                           bool* used) {
  *used = false;
  const auto schedule =
      ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(), machine,
                     [&](const ScheduleTemplate& t, const ScheduleSite&,
                         const ScheduleChoice& cheapest) {
                       *used = *used || t.name == name;
                       return cheapest;
                     });
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  if (!schedule.ok()) return {};
  const auto results =
      RunSchedule(kernel, *schedule, inputs, dims, /*passes=*/true);
  return results.empty() ? ingot::Tensor() : results[0];
}

}  // namespace ingot::te::cpu
