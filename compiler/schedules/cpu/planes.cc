// Results with planes that are read at the same places, which data tell, as an
// image's channels are where it is sampled: vectors hold one place of several
// planes, so that it is worked out once for these.
#include <algorithm>
#include <vector>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/conditions.h"
#include "compiler/te/schedule_template.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

// Places that take less than this to work out are worth less than vectors of
// what lies next to each other in the result.
constexpr int64_t kLeastCost = 16;

// Whether data tell which elements are read along `axis`.
bool IsPlacedByData(const tir::Load& load, const tir::Var* axis) {
  return std::any_of(load.indices.begin(), load.indices.end(),
                     [&](const Expr& index) {
                       return tir::Uses(index, axis) && !LoadsOf(index).empty();
                     });
}

// Whether what is read at one place along `axis` lies as what is read at
// another one does, there.
bool ReadsByPlane(const tir::Load& load, const tir::Var* axis) {
  return std::all_of(load.indices.begin(), load.indices.end(),
                     [&](const Expr& index) {
                       return index.get() == axis || !tir::Uses(index, axis);
                     });
}

// The axis of planes that are read at the same places; -1 where there is none.
int PlaneAxis(const Stage& stage) {
  if (ValueCost(stage.op().value) < kLeastCost) return -1;
  const auto& axes = stage.op().axis;
  const std::vector<const tir::Load*> loads = LoadsOf(stage.op().value);
  for (int i = static_cast<int>(axes.size()) - 2; i >= 0; --i) {
    const tir::Var* axis = axes[i].get();
    const bool by_plane = std::all_of(
        loads.begin(), loads.end(),
        [&](const tir::Load* load) { return ReadsByPlane(*load, axis); });
    const bool is_placed =
        std::any_of(loads.begin(), loads.end(), [&](const tir::Load* load) {
          return DependsOn(*load, axis) &&
                 IsPlacedByData(*load, axes.back().get());
        });
    if (by_plane && is_placed && GuessExtent(stage.output().shape()[i]) > 1 &&
        ConditionCuts(stage.op(), i, tir::Bounds::Dimensions()).empty()) {
      return i;
    }
  }
  return -1;
}

// The planes of a vector: fewer where all of them meet in the same few lines of
// a first-level cache, since they lie a multiple of its ways apart. It does not
// keep larger planes either way.
int64_t PlanesAtOnce(const Stage& stage, int plane,
                     const MachineModel& machine) {
  constexpr int64_t kWays = 8, kMostThatMeet = 4;
  const int64_t lanes = LanesFor(stage, machine);
  const tir::Var* axis = stage.op().axis[plane].get();
  for (const tir::Load* load : LoadsOf(stage.op().value)) {
    int64_t bytes = load->buffer->dtype.bytes();
    for (size_t d = load->indices.size(); d-- > 0;) {
      if (load->indices[d].get() == axis) {
        const bool meet = bytes <= machine.l1_bytes &&
                          bytes % (machine.l1_bytes / kWays) == 0;
        if (meet) return std::min(lanes, kMostThatMeet);
      }
      bytes *= GuessExtent(load->buffer->shape[d]);
    }
  }
  return lanes;
}

// Stages of which one, an output, is what becomes of the other's sums; the same
// one twice where nothing is summed. Null where planes of neither are read so.
struct SampledPlanes {
  Stage* value = nullptr;
  Stage* result = nullptr;
};

SampledPlanes FindPlanes(const Schedule& schedule, Stage* result) {
  bool sums = false;
  for (Stage* stage : schedule.stages()) {
    if (!stage->IsReduce()) continue;
    sums = true;
    if (ResultOf(schedule, *stage) == result && PlaneAxis(*stage) >= 0) {
      return {stage, result};
    }
  }
  const bool is_value = !sums && result->op().kind == OperationKind::kCompute &&
                        PlaneAxis(*result) >= 0;
  return is_value ? SampledPlanes{result, result} : SampledPlanes{};
}

bool Matches(const ScheduleSite& site) {
  return LanesFor(site.stage, site.machine) > 1 &&
         FindPlanes(site.schedule, site.schedule.Find(site.stage.output()))
                 .value != nullptr;
}

// Makes vectors of the planes. Returns the loop around them, and around what is
// summed.
Loop VectorizePlanes(Stage* stage, int plane, int64_t lanes) {
  const auto [outer, lane] = stage->Split(stage->axis(plane), lanes);
  std::vector<Loop> order(stage->axes().begin(), stage->axes().end());
  order[plane] = outer;
  const Loop point = order.back();
  order.insert(order.end(), stage->reduce_axes().begin(),
               stage->reduce_axes().end());
  order.push_back(lane);
  stage->Reorder(order);
  stage->Vectorize(lane);
  return point;
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice&,
           const MachineModel& machine) {
  auto [value, result] = FindPlanes(*schedule, stage);
  const int plane = PlaneAxis(*value);
  const int64_t lanes = PlanesAtOnce(*value, plane, machine);
  const int64_t work = GuessWork(value) * ValueCost(value->op().value);
  const bool parallel = work >= kParallelWork;
  if (value->IsReduce()) {
    const Anchor anchor = MakeAnchor(schedule, value);
    value = anchor.accumulator;
    result = anchor.result;
    VectorizePlanes(value, plane, lanes);
  }
  const Loop point = VectorizePlanes(result, plane, lanes);
  if (value != result) value->ComputeAt(result, point);
  // A loop with a tail stays apart from those around it.
  const bool divides =
      ConstExtent(result->output().shape()[plane]).value_or(1) % lanes == 0;
  if (plane == 0 && !divides) {
    if (parallel) result->Parallel(result->leaves()[0]);
  } else {
    FuseParallel(result, divides ? plane + 1 : plane, parallel);
  }
}

}  // namespace

ScheduleTemplate Planes() {
  ScheduleTemplate t;
  t.name = "cpu.planes";
  t.scope = TemplateScope::kKernel;
  t.matches = Matches;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
