// Groups of reductions along rows with what is done to the rows: softmax,
// normalizations, means. All of a row's stages run inside one loop over rows,
// so that the row is read from memory once; or a few short rows', so that one
// row's next stage does not wait for the end of the one before.
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/schedules/cpu/cpu_loops.h"
#include "compiler/schedules/row_kernel.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/tir/arith/compare.h"

namespace ingot::te::cpu {
namespace {

// Reduces rows in vectors, one after the other, inside `loop` of `out`.
// `ahead` asks for the operands of rows to come.
void ReduceAlongRows(Schedule* schedule, Stage* stage, Stage* out, Loop loop,
                     const std::function<void(Stage*, Loop)>& ahead,
                     const MachineModel& machine) {
  const std::vector<Stage*> parts = ReduceInVectors(schedule, stage, machine);
  stage->ComputeAt(out, loop);
  if (stage->axes().empty()) {
    for (Stage* part : parts) part->ComputeAt(out, loop);
    return;
  }
  const Loop row = stage->axes().back();
  for (Stage* part : parts) part->ComputeAt(stage, row);
  if (parts.empty()) {
    stage->AccumulateAt(row);
  } else {
    ahead(parts[0], parts[0]->reduce_axes().back());
  }
}

// The last axis that has neighbours.
int LastLongAxis(const Stage& stage) {
  const std::vector<Expr>& shape = stage.output().shape();
  int axis = static_cast<int>(shape.size()) - 1;
  while (axis > 0 && ConstExtent(shape[axis]) == 1) --axis;
  return axis;
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
        neighbours_(std::move(kernel.neighbours)),
        machine_(machine),
        lanes_(LanesFor(*out_, machine)) {}

  void Run() {
    if (out_->IsReduce()) inner_.push_back(schedule_->CacheWrite(out_));
    const int64_t last =
        GuessExtent(out_->output().shape()[out_->axes().size() - 1]);
    across_rows_ =
        is_row_.back() && last >= 2 && LanesFor(*out_, machine_.ForSums()) > 1;
    columns_ = ColumnsAtOnce();
    rows_ = across_rows_ ? 1 : RowsAtOnce();
    int64_t work = GuessWork(out_) * ValueCost(out_->op().value);
    for (const Stage* stage : inner_) {
      work += GuessWork(stage) * ValueCost(stage->op().value);
      if (!stage->IsReduce()) continue;
      across_rows_ = across_rows_ && !stage->axes().empty() &&
                     IsNearlyContiguous(stage, stage->op().axis.back().get());
    }
    const Loop attach = ScheduleOutput(last, work >= kParallelWork);
    for (Stage* stage : inner_) ScheduleInner(stage, attach);
  }

 private:
  // Returns how many columns to reduce side by side. What reads all rows again
  // should find them in a cache, as should what keeps something for each.
  int64_t ColumnsAtOnce() const {
    int64_t kept = 1;
    for (size_t i = 0; i < is_row_.size(); ++i) {
      if (!is_row_[i]) kept *= GuessExtent(out_->output().shape()[i]);
    }
    for (const Stage* stage : inner_) {
      if (!stage->IsReduce()) return lanes_;
    }
    const int64_t bytes =
        std::max<int64_t>(1, kept) * lanes_ * out_->output().dtype().bytes();
    return std::clamp<int64_t>(machine_.l2_bytes / 4 / bytes, 1,
                               kColumnsAtOnce / lanes_) *
           lanes_;
  }

  // The last axis that has several rows, or the first.
  size_t LastRowAxis() const {
    const std::vector<Expr>& shape = out_->output().shape();
    size_t axis = is_row_.size() - 1;
    while (axis > 0 && (!is_row_[axis] || ConstExtent(shape[axis]) == 1)) {
      --axis;
    }
    return axis;
  }

  // Returns how many rows along the last axis of rows to do at once: as many as
  // the nearest cache holds, with what is made of them.
  int64_t RowsAtOnce() const {
    const size_t axis = LastRowAxis();
    const std::optional<int64_t> extent =
        ConstExtent(out_->output().shape()[axis]);
    if (!is_row_[axis] || !extent || SharesResults(axis)) return 1;
    // The one result of a row is soon made.
    const bool has_one = std::count(is_row_.begin(), is_row_.end(), false) == 0;
    if (has_one && !IsExpensive(out_->op().value)) return 1;
    int64_t all = 1;
    for (size_t i = 0; i < is_row_.size(); ++i) {
      if (is_row_[i]) all *= GuessExtent(out_->output().shape()[i]);
    }
    // An operand, a stage between, and the result.
    int64_t bytes = 3 * BytesOfRow(*out_, all);
    for (const Stage* stage : inner_) {
      bytes = std::max(bytes, 3 * BytesOfRow(*stage, all));
    }
    // Threads share what is left to be done one after the other.
    constexpr int64_t kMost = 8, kShares = 16;
    for (int64_t rows = kMost; rows > 1; rows /= 2) {
      if (*extent % rows == 0 && rows * bytes <= machine_.l1_bytes &&
          rows * kShares <= all) {
        return rows;
      }
    }
    return 1;
  }

  // The bytes that a stage makes of each of so many rows, or reads of it.
  static int64_t BytesOfRow(const Stage& stage, int64_t rows) {
    return CeilDiv(GuessWork(&stage), std::max<int64_t>(rows, 1)) *
           stage.output().dtype().bytes();
  }

  // Whether whole groups of neighbours along an axis are one row.
  bool SharesResults(size_t axis) const {
    const auto extent = ConstExtent(out_->output().shape()[axis]);
    return !across_rows_ && neighbours_[axis] > 1 && extent.has_value() &&
           *extent % neighbours_[axis] == 0;
  }

  // Returns the loop over rows.
  Loop ScheduleOutput(int64_t last, bool parallel) {
    std::vector<Loop> rows, rest;
    for (size_t i = 0; i < is_row_.size(); ++i) {
      const Loop loop = out_->axis(static_cast<int>(i));
      const bool in_blocks = rows_ > 1 && i == LastRowAxis();
      if (in_blocks || (is_row_[i] && SharesResults(i))) {
        auto [group, member] =
            out_->Split(loop, in_blocks ? rows_ : neighbours_[i]);
        rows.push_back(group);
        rest.push_back(member);
      } else {
        (is_row_[i] ? rows : rest).push_back(loop);
      }
    }
    std::optional<Loop> lane;
    const bool has_columns = is_row_.back() ? rows_ > 1 : last > 1;
    if (across_rows_ || (has_columns && lanes_ > 1)) {
      // Across rows: [rows..., last / columns | rest, columns / lanes | lanes].
      if (across_rows_) {
        auto [block, columns] = out_->Split(rows.back(), columns_);
        rows.back() = block;
        rest.push_back(columns);
      }
      auto [o, i] = out_->Split(rest.back(), lanes_);
      out_->Vectorize(i);
      rest.back() = o;
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
      ReduceAlongRows(
          schedule_, stage, out_, attach,
          [this](Stage* part, Loop along) { AskForNextRows(part, along); },
          machine_);
      return;
    }
    stage->ComputeAt(out_, attach);
    if (stage->axes().empty()) return;
    if (stage->IsReduce()) {
      ReduceRows(stage, {stage->axes().begin(), stage->axes().end() - 1},
                 stage->axes().back(), lanes_);
    } else if (lanes_ > 1) {
      const int axis = LastLongAxis(*stage);
      auto [o, i] = stage->Split(
          stage->axis(axis),
          LanesAtOnce(*stage, stage->output().shape()[axis], machine_));
      stage->Vectorize(i);
      AskForNextRows(stage, o);
    }
    if (!is_kept_ && CanBeKeptInResult(*stage)) {
      stage->KeepInResult();
      is_kept_ = true;
    }
  }

  // While a stage computes for long, what the next rows are made of may come
  // from memory.
  void AskForNextRows(Stage* stage, Loop loop) {
    if (rows_ == 1 || !IsExpensive(stage->op().value)) return;
    for (const tir::Load* load : LoadsOf(stage->op().value)) {
      if (schedule_->Find(load->buffer.get()) != nullptr) continue;
      const int64_t element = load->buffer->dtype.bytes();
      int64_t bytes = element;
      for (const Expr& n : load->buffer->shape) bytes *= GuessExtent(n);
      if (bytes <= machine_.l2_bytes) continue;
      stage->Prefetch(
          Tensor{load->buffer}, loop,
          rows_ * element * GuessExtent(load->buffer->shape.back()));
    }
  }

  // Whether the result may take its place, element by element, after all else
  // has read it.
  bool CanBeKeptInResult(const Stage& stage) const {
    return !across_rows_ && !stage.IsReduce() && !out_->IsReduce() &&
           stage.output().dtype() == out_->output().dtype() &&
           ReadsAtOwnPoints(*out_, stage.output().buffer) &&
           std::equal(stage.output().shape().begin(),
                      stage.output().shape().end(),
                      out_->output().shape().begin(), tir::Equal);
  }

  Schedule* const schedule_;
  Stage* const out_;
  std::vector<Stage*> inner_;
  const std::vector<bool> is_row_;
  const std::vector<int64_t> neighbours_;
  const MachineModel& machine_;
  const int64_t lanes_;
  // Vectors hold the same place of neighbouring rows.
  bool across_rows_ = false;
  int64_t columns_ = 1;   // of neighbouring rows, at once
  int64_t rows_ = 1;      // of a block
  bool is_kept_ = false;  // a stage is in the place of the result
};

}  // namespace

ScheduleTemplate Rows() {
  ScheduleTemplate t;
  t.name = "cpu.rows";
  t.scope = TemplateScope::kKernel;
  t.matches = [](const ScheduleSite& site) {
    const std::optional<RowKernel> kernel = FindRowKernel(site.schedule);
    // One row's stages run before what is done to it.
    return kernel.has_value() && kernel->out == &site.stage &&
           std::count(kernel->is_row.begin(), kernel->is_row.end(), true) != 0;
  };
  t.build = [](Schedule* schedule, Stage*, const ScheduleChoice&,
               const MachineModel& machine) {
    RowScheduler(schedule, *FindRowKernel(*schedule), machine).Run();
  };
  return t;
}

}  // namespace ingot::te::cpu
