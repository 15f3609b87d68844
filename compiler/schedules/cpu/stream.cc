// Products of few rows with a large matrix that lies row by row in memory, such
// as the words of a sentence with values that were kept: the matrix is read
// once, some of its rows at a time from end to end, and sums of many columns
// stay in the nearest cache meanwhile.
#include <algorithm>
#include <limits>
#include <vector>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"

namespace ingot::te::cpu {
namespace {

// Each row of the matrix should be longer than what a tile of registers reads
// of it, and the matrix larger than a cache: until then tiles are as fast.
bool Matches(const ScheduleSite& site) {
  const Stage& stage = site.stage;
  if (TagOf(&stage, kAnchor) != kMatmul || stage.axes().size() < 2 ||
      stage.reduce_axes().size() != 1) {
    return false;
  }
  const int64_t lanes = LanesFor(stage, site.machine);
  const int64_t columns = GuessExtent(stage.output().shape().back());
  const tir::Load* matrix = RightOperand(stage);
  return lanes > 1 && columns >= 2 * kMaxTileVectors * lanes &&
         matrix != nullptr &&
         AccessStride(*matrix, stage.op().axis.back().get()) == 1 &&
         !DependsOn(*matrix, stage.op().axis[RowAxis(stage)].get()) &&
         columns * GuessExtent(stage.op().reduce_extent[0]) *
                 static_cast<int64_t>(matrix->buffer->dtype.bytes()) >
             site.machine.l2_bytes;
}

ScheduleSpace Space(const ScheduleSite& site) {
  const std::vector<Expr>& shape = site.stage.output().shape();
  const int64_t rows = GuessExtent(shape[RowAxis(site.stage)]);
  const double vectors =
      static_cast<double>(GuessWork(&site.stage)) /
      static_cast<double>(LanesFor(site.stage, site.machine));
  ScheduleSpace space;
  space.parameters = {{"columns", {1024, 2048, 512, 4096}}};
  space.cost = [=](const ScheduleChoice&) {
    // A tile of one row waits for memory, of which it reads a piece here and a
    // piece there; more rows multiply for so long that it keeps up.
    constexpr int64_t kFewRows = 2;
    return rows <= kFewRows ? vectors / 2
                            : std::numeric_limits<double>::infinity();
  };
  return space;
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  auto [sum, out] = MakeAnchor(schedule, stage);
  const int64_t lanes = LanesFor(*sum, machine);
  const auto [block, columns] =
      out->Split(out->axes().back(), choice.Get("columns"));
  const auto [vector, lane] = out->Split(columns, lanes);
  const size_t row = RowAxis(*sum);
  std::vector<Loop> order;
  int64_t batch = 1;
  for (size_t i = 0; i + 1 < out->axes().size(); ++i) {
    if (i == row) continue;
    order.push_back(out->axis(static_cast<int>(i)));
    batch *= GuessExtent(out->output().shape()[i]);
  }
  const int outer = static_cast<int>(order.size());
  order.insert(order.end(),
               {block, out->axis(static_cast<int>(row)), vector, lane});
  out->Reorder(order);
  out->Vectorize(lane);

  sum->ComputeAt(out, block);
  ReduceRows(sum, {sum->axes().begin(), sum->axes().end() - 1},
             sum->axes().back(), lanes);
  if (GuessWork(sum) < kParallelWork) return;
  // Threads share what is outermost and has enough iterations.
  if (batch >= 4) {
    FuseParallel(out, outer, true);
  } else {
    out->Parallel(block);
  }
}

}  // namespace

ScheduleTemplate Stream() {
  ScheduleTemplate t;
  t.name = "cpu.stream";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
