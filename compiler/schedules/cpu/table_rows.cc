// Results whose rows read a table along each row, as interpolation along one
// axis does after that along another: each row's part of the table is made
// where the row is, and stays in the cache.
#include <algorithm>
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/conditions.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"

namespace ingot::te::cpu {
namespace {

// Tables with parts for rows of a result: these are along the first `axes` of
// its axes, 0 where there are no such tables.
struct TablesOfRows {
  int axes = 0;
  std::vector<Stage*> tables;
};

// The first axes of a result along which it reads a table at its own places.
int OwnAxes(const Stage& stage, const Stage& table) {
  const auto& axis = stage.op().axis;
  size_t own = table.axes().size() == axis.size() ? axis.size() : 0;
  for (const tir::Load* load : LoadsOf(stage.op().value)) {
    if (load->buffer != table.output().buffer) continue;
    for (size_t i = 0; i < own; ++i) {
      if (load->indices[i] != axis[i]) own = i;
    }
  }
  return static_cast<int>(own);
}

TablesOfRows FindTables(const Schedule& schedule, const Stage& stage) {
  TablesOfRows found;
  for (Stage* table : schedule.stages()) {
    if (TagOf(table, kTable).empty() || table->is_output() ||
        schedule.Readers(table) !=
            std::vector<Stage*>{schedule.Find(stage.output())}) {
      continue;
    }
    const int own = OwnAxes(stage, *table);
    if (own == 0 || own < found.axes) continue;
    // Fewer axes would make the same part several times.
    if (own > found.axes) found = {own, {}};
    found.tables.push_back(table);
  }
  return found;
}

bool Matches(const ScheduleSite& site) {
  const Stage& stage = site.stage;
  if (stage.op().kind != OperationKind::kCompute) return false;
  const std::vector<Stage*> stages = site.schedule.stages();
  if (std::any_of(stages.begin(), stages.end(),
                  [](const Stage* other) { return other->IsReduce(); })) {
    return false;
  }
  for (size_t i = 0; i < stage.axes().size(); ++i) {
    if (!ConditionCuts(stage.op(), static_cast<int>(i),
                       tir::Bounds::Dimensions())
             .empty()) {
      return false;
    }
  }
  return FindTables(site.schedule, stage).axes != 0;
}

void VectorizeLast(Stage* stage, const MachineModel& machine) {
  const int64_t lanes = LanesFor(*stage, machine);
  if (lanes == 1 || GuessExtent(stage->output().shape().back()) == 1) return;
  stage->Vectorize(stage->Split(stage->axes().back(), lanes).second);
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice&,
           const MachineModel& machine) {
  const TablesOfRows found = FindTables(*schedule, *stage);
  int64_t work = GuessWork(stage) * ValueCost(stage->op().value);
  for (const Stage* table : found.tables) {
    work += GuessWork(table) * ValueCost(table->op().value);
  }
  VectorizeLast(stage, machine);
  const Loop row = *FuseParallel(stage, found.axes, work >= kParallelWork);
  for (Stage* table : found.tables) {
    VectorizeLast(table, machine);
    table->ComputeAt(stage, row);
  }
}

}  // namespace

ScheduleTemplate TableRows() {
  ScheduleTemplate t;
  t.name = "cpu.table_rows";
  t.scope = TemplateScope::kKernel;
  t.matches = Matches;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
