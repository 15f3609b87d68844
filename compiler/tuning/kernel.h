// A kernel whose schedule is about to be made, and the texts by which a log
// knows it.
#ifndef INGOT_COMPILER_TUNING_KERNEL_H_
#define INGOT_COMPILER_TUNING_KERNEL_H_

#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/machine/machine_model.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/target/target.h"
#include "compiler/te/te.h"

namespace ingot::tuning {

struct KernelToSchedule {
  absl::string_view function;  // of the module that is compiled
  const Target& target;
  const MachineModel& machine;
  const te::Graph& graph;
  absl::Span<const te::Tensor> outputs;
};

// Gives a kernel the picker of its parameters; null: the cost model decides.
using PickParameters =
    std::function<te::ParameterPicker(const KernelToSchedule&)>;

// A digest of what the kernel computes: types, shapes, formulas, and what its
// operators told templates, but no names, so that equal kernels of any models
// have the same.
std::string KernelKey(const te::Graph& graph,
                      absl::Span<const te::Tensor> outputs);

// The kind of the target and a digest of its options, of its machine as
// schedules see it and, where no other processor is named, of this one, such as
// "llvm/93be…": what was measured for one target says something of those with
// the same text alone.
std::string TargetKey(const Target& target, const MachineModel& machine);

}  // namespace ingot::tuning

#endif  // INGOT_COMPILER_TUNING_KERNEL_H_
