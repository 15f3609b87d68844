// Default schedules: loops for a processor, by rule.
#ifndef INGOT_COMPILER_TE_SCHEDULES_SCHEDULE_FOR_CPU_H_
#define INGOT_COMPILER_TE_SCHEDULES_SCHEDULE_FOR_CPU_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/target/target.h"
#include "compiler/te/schedule.h"
#include "compiler/te/te.h"

namespace ingot::te {

// A schedule for one kernel: what its anchor (tags.h) asks for, with
// element-wise operations around it joined to its loops; operations without a
// family get loops that are right and plain. Never fails for a graph that can
// be lowered at all; InvalidArgument as Schedule::Create. `graph` must outlive
// the result.
absl::StatusOr<Schedule> ScheduleForCpu(const Graph& graph,
                                        absl::Span<const Tensor> outputs,
                                        const CpuModel& cpu);

// The channel block b of *_nchwc tensors of type t that the schedules like
// best; passes that choose layouts ask here.
int64_t PreferredChannelBlock(const CpuModel& cpu, DataType t);
// The panel width nr of dense_packed weights of type t, for n columns.
int64_t PreferredPanelWidth(const CpuModel& cpu, DataType t, int64_t n);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_SCHEDULES_SCHEDULE_FOR_CPU_H_
