// Products of few rows with a matrix whose columns lie in one piece each, such
// as the scores of a word with keys that were kept: sums are made in vectors
// along the dimension summed over, several columns side by side, so that the
// matrix is read as it lies in memory, and nothing is copied.
#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "compiler/schedules/cpu/anchor.h"
#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

// Lanes of the partial sums.
int64_t SumLanes(const Stage& stage, const MachineModel& machine) {
  return LanesFor(stage, machine.ForSums());
}

bool Matches(const ScheduleSite& site) {
  const Stage& stage = site.stage;
  if (TagOf(&stage, kAnchor) != kMatmul || stage.axes().size() < 2) {
    return false;
  }
  const auto depth = ConstExtent(stage.op().reduce_extent.back());
  const int64_t lanes = SumLanes(stage, site.machine);
  return depth && lanes > 1 && *depth >= lanes &&
         IsContiguous(&stage, stage.op().reduce_axis.back().get());
}

ScheduleSpace Space(const ScheduleSite& site) {
  const std::vector<Expr>& shape = site.stage.output().shape();
  const int64_t rows = GuessExtent(shape[RowAxis(site.stage)]);
  const int64_t columns = GuessExtent(shape.back());
  const double outputs = static_cast<double>(OutputElements(&site.stage));
  const double vectors =
      static_cast<double>(GuessWork(&site.stage)) /
      static_cast<double>(LanesFor(site.stage, site.machine));
  ScheduleSpace space;
  space.parameters = {{"columns", {4, 8, 2, 1}}, {"rows", {1, 2, 4}}};
  space.cost = [=, machine = site.machine](const ScheduleChoice& choice) {
    const RegisterTile tile = {choice.Get("rows"), choice.Get("columns")};
    if (tile.rows > rows || tile.vectors > columns) {
      return std::numeric_limits<double>::infinity();
    }
    // Adding up the lanes of a sum takes about so many cycles.
    constexpr double kJoin = 6;
    return vectors * ProductCycles(machine, tile) + outputs * kJoin;
  };
  return space;
}

// The stage that makes the matrix from what it is stored as; null: it lies in
// memory as it is.
Stage* MakerOfMatrix(const Schedule& schedule, const Stage& sum) {
  const tir::Var* column = sum.op().axis.back().get();
  for (const tir::Load* load : LoadsOf(sum.op().value)) {
    for (Stage* maker : schedule.stages()) {
      const bool is_matrix =
          maker->output().buffer == load->buffer && maker->IsUntouched() &&
          !TagOf(maker, kParts).empty() && !maker->is_output() &&
          std::any_of(
              load->indices.begin(), load->indices.end(),
              [column](const Expr& index) { return tir::Uses(index, column); });
      if (is_matrix && schedule.Readers(maker).size() == 1) return maker;
    }
  }
  return nullptr;
}

// Makes some columns of the matrix in `loop` of `out`, for all rows.
void MakeColumns(Stage* maker, Stage* out, Loop loop,
                 const MachineModel& machine) {
  maker->ComputeAt(out, loop);
  const int last = static_cast<int>(maker->axes().size()) - 1;
  auto [vector, lane] =
      maker->Split(maker->axis(last), LanesFor(*maker, machine));
  maker->Unroll(maker->axis(last - 1));
  maker->Unroll(vector);
  maker->Vectorize(lane);
}

// So many columns are made at a time that they stay in a cache, and that a tile
// of rows, too, is read for several of them.
int64_t ColumnsAtATime(const Stage& maker, int64_t columns,
                       const MachineModel& machine) {
  int64_t bytes = maker.output().dtype().bytes();
  const std::vector<Expr>& shape = maker.output().shape();
  for (size_t i = 1; i < shape.size(); ++i) bytes *= GuessExtent(shape[i]);
  const int64_t most = std::min<int64_t>(machine.l2_bytes, 256 << 10) / 2;
  return std::clamp<int64_t>(most / bytes / columns, 1, 4) * columns;
}

void Build(Schedule* schedule, Stage* stage, const ScheduleChoice& choice,
           const MachineModel& machine) {
  auto [sum, out] = MakeAnchor(schedule, stage);
  const int rank = static_cast<int>(out->axes().size());
  const int64_t lanes = LanesFor(*sum, machine);
  const int64_t columns = choice.Get("columns");
  const int row = static_cast<int>(RowAxis(*sum));
  Stage* maker = MakerOfMatrix(*schedule, *sum);
  Loop outer = out->axis(rank - 1), inner = outer;
  std::vector<Loop> order;
  int64_t batch = 1;
  for (int i = 0; i + 1 < rank; ++i) {
    if (i == row) continue;
    order.push_back(out->axis(i));
    batch *= GuessExtent(out->output().shape()[i]);
  }
  if (maker != nullptr) {
    std::tie(outer, inner) =
        out->Split(outer, ColumnsAtATime(*maker, columns, machine));
    order.push_back(outer);
  }
  auto [mo, mi] = out->Split(out->axis(row), choice.Get("rows"));
  auto [no, ni] = out->Split(inner, columns);
  if (maker == nullptr) {
    outer = no;
    order.insert(order.end(), {no, mo, mi, ni});
  } else {
    order.insert(order.end(), {mo, no, mi, ni});
    MakeColumns(maker, out, outer, machine);
  }
  const Loop tile = maker == nullptr ? mo : no;
  out->Reorder(order);
  out->Unroll(mi);
  out->Unroll(ni);

  std::vector<Stage*> parts =
      schedule->SplitReduction(sum, SumLanes(*sum, machine));
  parts.push_back(sum);
  for (Stage* part : parts) {
    part->ComputeAt(out, tile);
    std::vector<Loop> loops(part->reduce_axes());
    for (const int i : {row, rank - 1}) {
      loops.push_back(part->axis(i));
      part->Unroll(part->axis(i));
    }
    if (static_cast<int>(part->axes().size()) > rank) {
      auto [vector, lane] = part->Split(part->axis(rank), lanes);
      part->Unroll(vector);
      part->Vectorize(lane);
      loops.insert(loops.end(), {vector, lane});
    }
    part->Reorder(loops);
  }
  if (GuessWork(parts[0]) < kParallelWork) return;
  // Threads share what is outermost and has enough iterations.
  if (batch >= 4) {
    FuseParallel(out, rank - 2, true);
  } else {
    out->Parallel(outer);
  }
}

}  // namespace

ScheduleTemplate Dot() {
  ScheduleTemplate t;
  t.name = "cpu.dot";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
