// Groups of reductions along rows with what is done to the rows: softmax,
// normalizations, means. All of a row's stages run inside one loop over rows,
// so that the row is read from memory once.
#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

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

// Reduces one row in vectors, everything inside `loop` of `out`.
void ReduceAlongRow(Schedule* schedule, Stage* stage, Stage* out, Loop loop,
                    const MachineModel& machine) {
  const std::vector<Stage*> parts = ReduceInVectors(schedule, stage, machine);
  stage->ComputeAt(out, loop);
  for (Stage* part : parts) part->ComputeAt(out, loop);
}

// A kernel of that form.
struct RowKernel {
  Stage* out;                 // the only output that depends on reductions
  std::vector<Stage*> inner;  // all that it depends on
  std::vector<bool> is_row;   // axes of `out` that reductions' results have
};

// Sets is_row. False when there is one result for everything: its stages run
// before.
bool FindRowAxes(RowKernel* kernel) {
  const Stage* out = kernel->out;
  const int rank = static_cast<int>(out->axes().size());
  // An output that reduces has a result at each of its points.
  kernel->is_row.assign(rank, out->IsReduce());
  if (out->IsReduce()) return true;
  std::set<const tir::BufferNode*> small;
  for (const Stage* stage : kernel->inner) {
    if (stage->IsReduce() || OutputElements(stage) < OutputElements(out)) {
      small.insert(stage->output().buffer.get());
    }
  }
  for (const tir::Load* load : LoadsOf(out->op().value)) {
    if (small.count(load->buffer.get()) == 0) continue;
    for (int i = 0; i < rank; ++i) {
      for (const Expr& index : load->indices) {
        if (tir::Uses(index, out->op().axis[i].get())) {
          kernel->is_row[i] = true;
        }
      }
    }
  }
  return std::find(kernel->is_row.begin(), kernel->is_row.end(), true) !=
         kernel->is_row.end();
}

std::optional<RowKernel> FindRows(const Schedule& schedule) {
  RowKernel kernel = {nullptr, {}, {}};
  for (Stage* stage : schedule.stages()) {
    if (!stage->is_output()) continue;
    if (stage->IsReduce() || ReadsReductions(schedule, stage)) {
      if (kernel.out != nullptr) return std::nullopt;
      kernel.out = stage;
    }
  }
  const Stage* out = kernel.out;
  if (out == nullptr || out->op().kind == OperationKind::kExtern ||
      out->axes().empty()) {
    return std::nullopt;
  }
  for (Stage* stage : schedule.stages()) {
    if (stage == out || stage->is_output()) continue;
    if (stage->op().kind == OperationKind::kExtern) return std::nullopt;
    if (stage->IsReduce() || ReadsReductions(schedule, stage)) {
      // A stage that is read only through the output's rows may move there.
      for (const Stage* reader : schedule.Readers(stage)) {
        if (reader->is_output() && reader != out) return std::nullopt;
      }
      kernel.inner.push_back(stage);
    }
  }
  if (!FindRowAxes(&kernel)) return std::nullopt;
  return kernel;
}

// Builds the loops of one such kernel.
class RowScheduler {
 public:
  RowScheduler(Schedule* schedule, RowKernel kernel,
               const MachineModel& machine)
      : schedule_(schedule),
        out_(kernel.out),
        inner_(std::move(kernel.inner)),
        is_row_(std::move(kernel.is_row)),
        machine_(machine),
        lanes_(LanesFor(*out_, machine)) {}

  void Run() {
    if (out_->IsReduce()) inner_.push_back(schedule_->CacheWrite(out_));
    const int64_t last =
        GuessExtent(out_->output().shape()[out_->axes().size() - 1]);
    across_rows_ =
        is_row_.back() && last >= 2 && LanesFor(*out_, machine_.ForSums()) > 1;
    int64_t work = GuessWork(out_) * ValueCost(out_->op().value);
    for (const Stage* stage : inner_) {
      work += GuessWork(stage) * ValueCost(stage->op().value);
      if (!stage->IsReduce()) continue;
      across_rows_ = across_rows_ && !stage->axes().empty() &&
                     IsContiguous(stage, stage->op().axis.back().get());
    }
    const Loop attach = ScheduleOutput(last, work >= kParallelWork);
    for (Stage* stage : inner_) ScheduleInner(stage, attach);
  }

 private:
  // Returns the loop over rows.
  Loop ScheduleOutput(int64_t last, bool parallel) {
    std::vector<Loop> rows, rest;
    for (size_t i = 0; i < is_row_.size(); ++i) {
      (is_row_[i] ? rows : rest).push_back(out_->axis(static_cast<int>(i)));
    }
    std::optional<Loop> lane;
    if (across_rows_ || (!is_row_.back() && lanes_ > 1 && last > 1)) {
      // Across rows: [rows..., last / lanes | rest | lanes].
      std::vector<Loop>& split = across_rows_ ? rows : rest;
      auto [o, i] = out_->Split(split.back(), lanes_);
      out_->Vectorize(i);
      split.back() = o;
      lane = i;
    }
    std::vector<Loop> order = rows;
    order.insert(order.end(), rest.begin(), rest.end());
    if (lane) order.push_back(*lane);
    out_->Reorder(order);
    const int count = static_cast<int>(rows.size());
    if (!across_rows_) return *FuseParallel(out_, count, parallel);
    // The last row loop has a tail; it stays apart from those around it.
    if (count > 1) {
      FuseParallel(out_, count - 1, parallel);
    } else if (parallel) {
      out_->Parallel(rows.back());
    }
    return rows.back();
  }

  void ScheduleInner(Stage* stage, Loop attach) {
    if (stage->IsReduce() && !across_rows_) {
      ReduceAlongRow(schedule_, stage, out_, attach, machine_);
      return;
    }
    stage->ComputeAt(out_, attach);
    if (stage->axes().empty()) return;
    if (stage->IsReduce()) {
      auto [o, i] = stage->Split(stage->axes().back(), lanes_);
      std::vector<Loop> order(stage->axes().begin(), stage->axes().end() - 1);
      order.push_back(o);
      for (Loop loop : stage->reduce_axes()) order.push_back(loop);
      order.push_back(i);
      stage->Reorder(order);
      stage->Vectorize(i);
      stage->AccumulateAt(o);
    } else if (lanes_ > 1) {
      auto [o, i] = stage->Split(stage->axes().back(), lanes_);
      stage->Vectorize(i);
    }
  }

  Schedule* const schedule_;
  Stage* const out_;
  std::vector<Stage*> inner_;
  const std::vector<bool> is_row_;
  const MachineModel& machine_;
  const int64_t lanes_;
  // Vectors hold the same place of neighbouring rows.
  bool across_rows_ = false;
};

}  // namespace

ScheduleTemplate Rows() {
  ScheduleTemplate t;
  t.name = "cpu.rows";
  t.scope = TemplateScope::kKernel;
  t.matches = [](const ScheduleSite& site) {
    const std::optional<RowKernel> kernel = FindRows(site.schedule);
    return kernel.has_value() && kernel->out == &site.stage;
  };
  t.build = [](Schedule* schedule, Stage*, const ScheduleChoice&,
               const MachineModel& machine) {
    RowScheduler(schedule, *FindRows(*schedule), machine).Run();
  };
  return t;
}

}  // namespace ingot::te::cpu
