// Groups of reductions along rows with what is done to the rows: softmax,
// normalizations, means. All of a row's stages run inside one loop over rows,
// so that the row is read from memory once.
#include <algorithm>
#include <set>

#include "compiler/te/schedules/common.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

// Every load reads the same or the next element as `var` goes up by one.
bool IsContiguous(const Stage* stage, const tir::Var* var) {
  for (const tir::Load* load : LoadsOf(stage->op().value)) {
    if (AccessStride(*load, var) < 0) return false;
  }
  return true;
}

bool ReadsReductions(const Schedule& schedule, const Stage* stage) {
  for (const Tensor& t : stage->op().inputs) {
    const Stage* producer = schedule.Find(t);
    if (producer == nullptr) continue;
    if (producer->IsReduce() || ReadsReductions(schedule, producer)) {
      return true;
    }
  }
  return false;
}

// Partial results for a reduction along contiguous elements: vectors, and
// enough of them to hide the latency of an addition.
int64_t ReductionLanes(int64_t extent, int64_t lanes) {
  if (lanes < 2) return 0;
  for (int64_t vectors : {4, 2, 1}) {
    if (extent >= 4 * vectors * lanes) return vectors * lanes;
  }
  return extent >= lanes ? lanes : 0;
}

// Reduces one row in vectors, everything inside `loop` of `out`.
void ReduceAlongRow(Schedule* schedule, Stage* stage, Stage* out, Loop loop,
                    const CpuModel& cpu) {
  const int64_t lanes = LanesFor(stage, cpu);
  const int64_t partials =
      ReductionLanes(GuessExtent(stage->op().reduce_extent.back()), lanes);
  const bool split =
      partials > 0 && IsContiguous(stage, stage->op().reduce_axis.back().get());
  if (!split) {
    stage->ComputeAt(out, loop);
    return;
  }
  std::vector<Stage*> made = schedule->SplitReduction(stage, partials);
  stage->ComputeAt(out, loop);
  for (Stage* part : made) {
    part->ComputeAt(out, loop);
    if (part->axes().size() == stage->axes().size()) continue;  // the tail
    Loop lane = part->axes().back();
    auto [o, i] = part->Split(lane, lanes);
    part->Unroll(o);
    part->Vectorize(i);
    if (!part->IsReduce()) continue;
    std::vector<Loop> order(part->axes().begin(), part->axes().end() - 1);
    for (Loop reduce : part->reduce_axes()) order.push_back(reduce);
    order.push_back(o);
    order.push_back(i);
    part->Reorder(order);
  }
}

}  // namespace

bool ScheduleRows(Schedule* schedule, const CpuModel& cpu) {
  // The only output that depends on reductions, and all that it depends on.
  Stage* out = nullptr;
  for (Stage* stage : schedule->stages()) {
    if (!stage->is_output()) continue;
    if (stage->IsReduce() || ReadsReductions(*schedule, stage)) {
      if (out != nullptr) return false;
      out = stage;
    }
  }
  if (out == nullptr || out->op().kind == OperationKind::kExtern) return false;
  if (out->axes().empty()) return false;
  std::vector<Stage*> inner;
  for (Stage* stage : schedule->stages()) {
    if (stage == out || stage->is_output()) continue;
    if (stage->op().kind == OperationKind::kExtern) return false;
    if (stage->IsReduce() || ReadsReductions(*schedule, stage)) {
      // A stage that is read only through the output's rows may move there.
      for (const Stage* reader : schedule->Readers(stage)) {
        if (reader->is_output() && reader != out) return false;
      }
      inner.push_back(stage);
    }
  }
  if (out->IsReduce()) inner.push_back(schedule->CacheWrite(out));

  // The axes on which reductions' results depend are the rows.
  const int rank = static_cast<int>(out->axes().size());
  std::set<const tir::BufferNode*> small;
  for (const Stage* stage : inner) {
    if (stage->IsReduce() || OutputElements(stage) < OutputElements(out)) {
      small.insert(stage->output().buffer.get());
    }
  }
  std::vector<bool> is_row(rank, false);
  for (const tir::Load* load : LoadsOf(out->op().value)) {
    if (small.count(load->buffer.get()) == 0) continue;
    for (int i = 0; i < rank; ++i) {
      for (const Expr& index : load->indices) {
        if (tir::Uses(index, out->op().axis[i].get())) is_row[i] = true;
      }
    }
  }
  const int64_t lanes = LanesFor(out, cpu);
  bool across_rows = is_row[rank - 1] && lanes > 1 &&
                     GuessExtent(out->output().shape()[rank - 1]) >= 2;
  int64_t work = GuessWork(out) * ValueCost(out->op().value);
  for (const Stage* stage : inner) {
    work += GuessWork(stage) * ValueCost(stage->op().value);
    if (!stage->IsReduce()) continue;
    across_rows = across_rows && !stage->axes().empty() &&
                  IsContiguous(stage, stage->op().axis.back().get());
  }

  std::vector<Loop> rows, rest;
  for (int i = 0; i < rank; ++i) {
    (is_row[i] ? rows : rest).push_back(out->axis(i));
  }
  // One result for everything: its stages run before.
  if (rows.empty()) return false;
  std::optional<Loop> lane;
  if (across_rows) {
    // [rows..., last / lanes | rest | lanes]
    auto [o, i] = out->Split(rows.back(), lanes);
    out->Vectorize(i);
    rows.back() = o;
    lane = i;
  } else if (!is_row[rank - 1] && lanes > 1 &&
             GuessExtent(out->output().shape()[rank - 1]) > 1) {
    auto [o, i] = out->Split(rest.back(), lanes);
    out->Vectorize(i);
    rest.back() = o;
    lane = i;
  }
  std::vector<Loop> order = rows;
  order.insert(order.end(), rest.begin(), rest.end());
  if (lane) order.push_back(*lane);
  out->Reorder(order);
  const bool parallel = work >= kParallelWork;
  Loop attach = rows.back();
  if (across_rows) {
    // The last row loop has a tail; it stays apart from those around it.
    const int outer = static_cast<int>(rows.size()) - 1;
    if (outer > 0) {
      FuseParallel(out, outer, parallel);
    } else if (parallel) {
      out->Parallel(attach);
    }
  } else {
    attach = *FuseParallel(out, static_cast<int>(rows.size()), parallel);
  }

  for (Stage* stage : inner) {
    if (stage->IsReduce() && !across_rows) {
      ReduceAlongRow(schedule, stage, out, attach, cpu);
      continue;
    }
    stage->ComputeAt(out, attach);
    if (stage->axes().empty()) continue;
    if (stage->IsReduce()) {
      auto [o, i] = stage->Split(stage->axes().back(), lanes);
      std::vector<Loop> reduce_order(stage->axes().begin(),
                                     stage->axes().end() - 1);
      reduce_order.push_back(o);
      for (Loop loop : stage->reduce_axes()) reduce_order.push_back(loop);
      reduce_order.push_back(i);
      stage->Reorder(reduce_order);
      stage->Vectorize(i);
      stage->AccumulateAt(o);
    } else if (lanes > 1) {
      auto [o, i] = stage->Split(stage->axes().back(), lanes);
      stage->Vectorize(i);
    }
  }
  return true;
}

}  // namespace ingot::te
