#include "compiler/te/schedules/schedule_for_cpu.h"

#include <algorithm>

#include "compiler/te/schedules/anchor.h"
#include "compiler/te/schedules/common.h"
#include "compiler/te/tags.h"

namespace ingot::te {
namespace {

// Whether a family has decided on the stage's loops, or others are inside them.
bool IsScheduled(const Schedule& schedule, const Stage* stage) {
  if (!stage->IsUntouched()) return true;
  for (const Stage* other : schedule.stages()) {
    if (other->consumer() == stage) return true;
  }
  return false;
}

// Schedules a stage by its family. False when it has none.
bool ScheduleAnchor(Schedule* schedule, Stage* stage, const CpuModel& cpu) {
  absl::string_view anchor = TagOf(stage, kAnchor);
  const size_t rank = stage->axes().size();
  const size_t reduces = stage->reduce_axes().size();
  if ((anchor == kMatmul || anchor == kDensePacked) && rank >= 2 &&
      reduces == 1) {
    ScheduleMatmul(schedule, stage, cpu);
  } else if (anchor == kConv2dNchwc && rank == 5) {
    ScheduleConv2dNchwc(schedule, stage, cpu);
  } else if (anchor == kConv2dNchw && rank == 4) {
    ScheduleConv2dNchw(schedule, stage, cpu);
  } else if ((anchor == kDepthwiseNchwc && rank == 5) ||
             (anchor == kPool2d && (rank == 4 || rank == 5))) {
    ScheduleWindow(schedule, stage, cpu);
  } else {
    return false;
  }
  return true;
}

// Whether nothing is computed, so that there is nothing to share out either.
bool IsEmpty(absl::Span<const Tensor> outputs) {
  for (const Tensor& output : outputs) {
    for (const Expr& extent : output.shape()) {
      if (ConstExtent(extent) == 0) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<Schedule> ScheduleForCpu(const Graph& graph,
                                        absl::Span<const Tensor> outputs,
                                        const CpuModel& cpu) {
  absl::StatusOr<Schedule> schedule = Schedule::Create(graph, outputs);
  if (!schedule.ok() || IsEmpty(outputs)) return schedule;
  InlineCheap(&*schedule);
  bool anchored = false;
  for (Stage* stage : schedule->stages()) {
    if (stage->IsReduce() && !stage->IsAttached()) {
      anchored = ScheduleAnchor(&*schedule, stage, cpu) || anchored;
    }
  }
  if (!anchored) ScheduleRows(&*schedule, cpu);
  for (Stage* stage : schedule->stages()) {
    if (IsScheduled(*schedule, stage)) continue;
    if (stage->IsReduce()) {
      ScheduleReduction(&*schedule, stage, cpu);
    } else if (stage->op().kind == OperationKind::kCompute) {
      ScheduleElementwise(stage, cpu);
    }
  }
  if (!schedule->status().ok()) return schedule->status();
  return schedule;
}

int64_t PreferredChannelBlock(const CpuModel& cpu, DataType t) {
  return std::max(cpu.lanes(t), 4);
}

int64_t PreferredPanelWidth(const CpuModel& cpu, DataType t, int64_t n) {
  const int64_t lanes = std::max(cpu.lanes(t), 1);
  const int64_t vectors = (n + lanes - 1) / lanes;
  return std::clamp<int64_t>(vectors, 1, MatmulTile(cpu).vectors) * lanes;
}

}  // namespace ingot::te
