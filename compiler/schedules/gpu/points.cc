// A work item for each element of a result, or for a few neighbours that lie in
// 16 bytes, which it then reads and writes at once.
#include <cstdint>
#include <vector>

#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::gpu {
namespace {

// A device is busy while it has so many work items for each core.
constexpr int64_t kItemsOfCore = 1024;

// Finds conditions that depend on a variable.
class Decisions final : public tir::ExprVisitor {
 public:
  explicit Decisions(const tir::Var* var) : var_(var) {}
  using tir::ExprVisitor::Visit;
  bool found = false;

 private:
  void VisitSelect(const tir::Select& node) override {
    found |= tir::Uses(node.condition, var_);
    ExprVisitor::VisitSelect(node);
  }

  const tir::Var* const var_;
};

// The neighbours along the last axis that a work item takes: 1 where what they
// read does not lie side by side, too, or too few items would be left.
int64_t NeighboursOf(const Stage& stage, int64_t cores) {
  const Operation& op = stage.op();
  const DataType type = stage.output().dtype();
  const int64_t lanes = kBytesAtOnce / type.bytes();
  if (op.kind != OperationKind::kCompute || type.is_bool() || lanes < 2 ||
      !HasConstantExtents(stage) ||
      GuessExtent(stage.output().shape().back()) % lanes != 0 ||
      OutputElements(&stage) / lanes < kItemsOfCore * cores) {
    return 1;
  }
  const tir::VarPtr& last = op.axis.back();
  for (const tir::Load* load : LoadsOf(op.value)) {
    const int stride = AccessStride(*load, last.get());
    const bool is_run = stride == 1 && load->dtype.bytes() == type.bytes() &&
                        InAlignedRuns(*load, last, lanes);
    if (stride != 0 && !is_run) return 1;
  }
  Decisions decisions(last.get());
  decisions.Visit(op.value);
  return decisions.found ? 1 : lanes;
}

void Build(Schedule*, Stage* stage, const ScheduleChoice&,
           const MachineModel& machine) {
  const int64_t neighbours =
      machine.group_cores == 0 ? 1 : NeighboursOf(*stage, machine.group_cores);
  if (neighbours == 1) {
    stage->Parallel(FuseAxes(stage));
    return;
  }
  std::vector<Loop> loops = stage->axes();
  const auto [run, lanes] =
      stage->Split(loops.back(), neighbours, Tail::kExact);
  loops.back() = run;
  stage->Parallel(loops.size() == 1 ? run : stage->Fuse(loops));
  stage->Vectorize(lanes);
}

}  // namespace

ScheduleTemplate Points() {
  ScheduleTemplate t;
  t.name = "gpu.points";
  t.scope = TemplateScope::kStage;
  t.matches = [](const ScheduleSite& site) {
    return !site.stage.IsAttached() && !site.stage.axes().empty() &&
           site.stage.op().kind != OperationKind::kExtern;
  };
  t.build = Build;
  return t;
}

}  // namespace ingot::te::gpu
