#ifndef INGOT_COMPILER_DRIVER_LOWER_FUNCTION_H_
#define INGOT_COMPILER_DRIVER_LOWER_FUNCTION_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/machine/machine_model.h"
#include "compiler/relay/ir.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/te.h"
#include "compiler/tir/ir.h"

namespace ingot {

// Gives a kernel the picker of its parameters, which may be null.
using PickerForGraph = std::function<te::ParameterPicker(
    const te::Graph& graph, absl::Span<const te::Tensor> outputs)>;

// The default lowering, used where a target has no relay_to_tir hook: joins the
// te definitions of the operators of `function` into one graph, schedules it
// for `machine` by a target's templates and lowers it to loops. The result is
// called `name`; its parameters are the function's inputs, its outputs, then
// workspaces. Constants inside the function must have one element. `picker_for`
// may be null: the templates' estimates choose their parameters. Errors name
// the node.
absl::StatusOr<tir::PrimFunc> LowerFunction(
    const relay::Function& function, absl::string_view name,
    absl::Span<const te::ScheduleTemplate> templates,
    const MachineModel& machine, const PickerForGraph& picker_for = nullptr);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_LOWER_FUNCTION_H_
