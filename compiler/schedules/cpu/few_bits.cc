// Products with matrices of few bits: numbers are unpacked in registers, once
// for the rows of a tile, so that the matrix is read from memory as it is, one
// column after the other.
#include <limits>
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"

namespace ingot::te::cpu {
namespace {

// The stage that adds up the lanes; null where it has other work as well.
Stage* ReaderOf(const Schedule& schedule, const Stage& stage) {
  const std::vector<Stage*> readers = schedule.Readers(&stage);
  const bool fits = !stage.is_output() && readers.size() == 1 &&
                    readers[0]->IsUntouched() && !readers[0]->IsReduce() &&
                    readers[0]->axes().size() + 1 == stage.axes().size() &&
                    readers[0]->op().kind == OperationKind::kCompute;
  return fits ? readers[0] : nullptr;
}

bool Matches(const ScheduleSite& site) {
  return TagOf(&site.stage, kAnchor) == kDenseBits &&
         site.stage.axes().size() >= 3 &&
         ReaderOf(site.schedule, site.stage) != nullptr;
}

ScheduleSpace Space(const ScheduleSite& site) {
  const std::vector<Expr>& shape = site.stage.output().shape();
  const int64_t rows = GuessExtent(shape[shape.size() - 3]);
  const double sums = static_cast<double>(GuessWork(&site.stage));
  // A sum's lanes fill so many vectors.
  const int64_t lanes = GuessExtent(shape.back());
  const double vectors =
      static_cast<double>(lanes) / LanesFor(site.stage, site.machine);
  ScheduleSpace space;
  space.parameters = {{"rows", {4, 2, 1}}, {"columns", {1, 2, 4}}};
  space.cost = [=, registers = site.machine.vector_registers](
                   const ScheduleChoice& choice) {
    const int64_t m = choice.Get("rows"), n = choice.Get("columns");
    // Half of the registers hold what is being unpacked.
    const double used = vectors * static_cast<double>(m * n);
    if (m > rows || used > registers / 2) {
      return std::numeric_limits<double>::infinity();
    }
    // Vectors of bytes are widened, shifted, masked and converted for all rows,
    // and data loaded for all columns, of a tile. But columns that are read
    // side by side are streams too short for a processor to see them coming:
    // one after the other they are one stream.
    constexpr double kUnpack = 5, kLoads = 2, kProducts = 3, kStream = 2;
    return sums / lanes * vectors *
           (kUnpack / static_cast<double>(m) + kLoads / static_cast<double>(n) +
            kProducts + kStream * static_cast<double>(n - 1));
  };
  return space;
}

void Build(Schedule* schedule, Stage* lanes, const ScheduleChoice& choice,
           const MachineModel&) {
  Stage* out = ReaderOf(*schedule, *lanes);
  const int rank = static_cast<int>(out->axes().size());
  auto [mo, mi] = out->Split(out->axis(rank - 2), choice.Get("rows"));
  auto [no, ni] = out->Split(out->axis(rank - 1), choice.Get("columns"));
  std::vector<Loop> order;
  for (int i = 0; i + 2 < rank; ++i) order.push_back(out->axis(i));
  for (Loop loop : {no, mo, mi, ni}) order.push_back(loop);
  out->Reorder(order);
  out->Unroll(mi);
  out->Unroll(ni);

  lanes->ComputeAt(out, mo);
  const Loop row = lanes->axis(rank - 2), column = lanes->axis(rank - 1);
  lanes->Reorder({lanes->reduce_axis(0), row, column, lanes->axis(rank)});
  lanes->Unroll(row);
  lanes->Unroll(column);
  lanes->Vectorize(lanes->axis(rank));

  if (GuessWork(lanes) >= kParallelWork) out->Parallel(no);
}

}  // namespace

ScheduleTemplate FewBits() {
  ScheduleTemplate t;
  t.name = "cpu.few_bits";
  t.matches = Matches;
  t.space = Space;
  t.build = Build;
  return t;
}

}  // namespace ingot::te::cpu
