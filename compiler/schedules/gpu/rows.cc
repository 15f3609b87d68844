// Reductions of rows with what is done to the rows: softmax, norms, means,
// products of few rows. A block of threads has some rows, and as many threads
// for each share its terms: each reduces its part in registers, then few of
// them join the parts through shared memory. All statistics of a row and what
// is made of them are one kernel.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/schedules/gpu/items.h"
#include "compiler/schedules/row_kernel.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"

namespace ingot::te::gpu {
namespace {

// The threads of a block: so many for each row, and rows for the rest of them.
constexpr int64_t kThreads = 256;

// A block joins the parts of its rows in so many cycles: two steps with their
// barriers.
constexpr double kJoin = 8192;

// Whether a reduction may be shared by threads. Windows are better read by
// those that make neighbouring elements.
bool IsShareable(const Stage& stage) {
  if (stage.op().reduce_axis.empty() || TermsOf(&stage) < 1) return false;
  const absl::string_view anchor = TagOf(&stage, kAnchor);
  const auto& extents = stage.op().reduce_extent;
  const auto axes =
      std::count_if(extents.begin(), extents.end(),
                    [](const Expr& n) { return ConstExtent(n) != 1; });
  return axes <= 1 || anchor == kNorm || anchor == kSoftmax ||
         anchor == kReduce || anchor == kGlobalPool;
}

// The reductions of the kernel that a site is of, where all can be shared.
std::vector<Stage*> ReductionsOf(const ScheduleSite& site,
                                 const RowKernel& kernel) {
  std::vector<Stage*> reductions;
  for (Stage* stage : site.schedule.stages()) {
    const bool inside =
        stage == kernel.out ||
        std::count(kernel.inner.begin(), kernel.inner.end(), stage) != 0;
    if (!inside) continue;
    if (!stage->IsUntouched() || !HasConstantExtents(*stage)) return {};
    if (!stage->IsReduce()) {
      if (stage->axes().empty()) return {};  // threads need a loop
      continue;
    }
    if (!IsShareable(*stage)) return {};
    reductions.push_back(stage);
  }
  return reductions;
}

// Whether neighbouring terms of a reduction are neighbours in memory.
bool IsAlongMemory(const Stage& stage) {
  const Operation& op = stage.op();
  size_t last = op.reduce_axis.size() - 1;
  while (last > 0 && ConstExtent(op.reduce_extent[last]) == 1) --last;
  return IsContiguous(&stage, op.reduce_axis[last].get());
}

// The rows of a kernel along its output's axes.
struct RowLoops {
  int shared = -1;     // the axis of `out` along which a block has rows
  int64_t along = 1;   // so many rows are along it
  int64_t others = 1;  // and so many times that in all
};

RowLoops LoopsOf(const RowKernel& kernel) {
  RowLoops loops;
  const auto& shape = kernel.out->output().shape();
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    if (!kernel.is_row[i]) continue;
    const int64_t rows = CeilDiv(GuessExtent(shape[i]), kernel.neighbours[i]);
    if (loops.shared < 0 || loops.along == 1) {
      loops.shared = i;
      loops.along = rows;
    } else {
      loops.others *= rows;
    }
  }
  return loops;
}

// The shared memory for what stages between the statistics and the result have
// of a block's rows; beyond it they are in global memory.
int64_t SharedForRows(const MachineModel& machine) {
  return machine.shared_bytes / 2;
}

// The bytes that a stage has for each of so many rows.
int64_t BytesOfRow(const Stage& stage, int64_t rows) {
  return CeilDiv(OutputElements(&stage), rows) *
         static_cast<int64_t>(stage.output().dtype().bytes());
}

// The bytes of all such stages.
int64_t BytesOfRow(const RowKernel& kernel, int64_t rows) {
  int64_t bytes = 0;
  for (const Stage* stage : kernel.inner) {
    if (stage->IsReduce() || stage->IsInlined()) continue;
    bytes += BytesOfRow(*stage, rows);
  }
  return bytes;
}

// Times that a row in global memory is written or read more than one in shared
// memory: an exponent, its sum and the quotient.
constexpr int64_t kMoreAccesses = 3;

ScheduleSpace Space(const ScheduleSite& site) {
  const RowKernel kernel = *FindRowKernel(site.schedule);
  const RowLoops rows = LoopsOf(kernel);
  const int64_t terms = TermsOf(&site.stage);
  const int64_t cores = site.machine.group_cores;
  const int64_t row_bytes = BytesOfRow(kernel, rows.others * rows.along);
  const int64_t shared_bytes = SharedForRows(site.machine);
  ScheduleSpace space;
  space.parameters = {{"threads", {32, 16, 8, 4, 2, 64, 128, 256}}};
  // Where there are other stages, one kernel of one thread for each row is
  // still better than several. Threads need a loop.
  if (!kernel.inner.empty() &&
      std::none_of(kernel.inner.begin(), kernel.inner.end(),
                   [](const Stage* s) { return s->axes().empty(); })) {
    space.parameters[0].values.push_back(1);
  }
  space.cost = [=](const ScheduleChoice& c) {
    const int64_t threads = c.Get("threads");
    if (threads >= 2 * terms) return kImpossible;
    const int64_t blocks =
        CeilDiv(rows.others * CeilDiv(rows.along, kThreads / threads), cores);
    const double joins = threads > 1 ? kJoin * static_cast<double>(blocks) : 0;
    const bool fits = row_bytes * (kThreads / threads) <= shared_bytes;
    const int64_t accesses = fits ? 1 : 1 + kMoreAccesses;
    return TermsCycles(kThreads * blocks, accesses * CeilDiv(terms, threads)) +
           joins;
  };
  return space;
}

class RowScheduler {
 public:
  RowScheduler(Schedule* schedule, RowKernel kernel, int64_t threads,
               const MachineModel& machine)
      : schedule_(schedule),
        kernel_(std::move(kernel)),
        out_(kernel_.out),
        threads_(threads),
        shared_bytes_(SharedForRows(machine)) {}

  void Run() {
    const RowLoops rows = LoopsOf(kernel_);
    rows_ = rows.others * rows.along;
    std::vector<Stage*> parts;
    for (Stage* stage : kernel_.inner) ShareTerms(stage, &parts);
    ShareTerms(out_, &parts);
    const Loop block = ScheduleOutput(rows.shared);
    for (Stage* stage : kernel_.inner) {
      if (!stage->IsInlined()) ScheduleInside(stage, false, block);
    }
    // Their last axis is that of the parts.
    for (Stage* stage : parts) ScheduleInside(stage, across_rows_, block);
  }

 private:
  void ShareTerms(Stage* stage, std::vector<Stage*>* parts) {
    if (!stage->IsReduce()) return;
    // Neighbours in memory are read by neighbours among the threads.
    across_rows_ = across_rows_ || !IsAlongMemory(*stage);
    if (threads_ == 1) return;
    for (Stage* part : schedule_->ShareReduction(stage, threads_)) {
      parts->push_back(part);
    }
    if (stage != out_) stage->ComputeInline();
  }

  // Returns the loop over blocks. The loops inside of it: those over the rows
  // of a block, where there are several rows, and over what each row has.
  Loop CutRows(int shared, std::vector<Loop>* row, std::vector<Loop>* rest) {
    std::vector<Loop> blocks;
    for (int i = 0; i < static_cast<int>(kernel_.is_row.size()); ++i) {
      Loop loop = out_->axis(i);
      if (!kernel_.is_row[i]) {
        rest->push_back(loop);
        continue;
      }
      if (kernel_.neighbours[i] > 1) {
        const auto [outer, inner] =
            out_->Split(loop, kernel_.neighbours[i], Tail::kGuard);
        loop = outer;
        rest->push_back(inner);
      }
      if (i == shared) {
        const auto [outer, inner] =
            out_->Split(loop, kThreads / threads_, Tail::kGuard);
        loop = outer;
        row->push_back(inner);
      }
      blocks.push_back(loop);
    }
    if (blocks.empty()) {  // one row, which is one block
      const auto [one, all] =
          out_->Split(out_->Fuse(*rest), OutputElements(out_), Tail::kExact);
      *rest = {all};
      return one;
    }
    std::vector<Loop> order = blocks;
    order.insert(order.end(), row->begin(), row->end());
    order.insert(order.end(), rest->begin(), rest->end());
    out_->Reorder(order);
    return out_->Fuse(blocks);
  }

  // Returns the loop over blocks.
  Loop ScheduleOutput(int shared) {
    Stage* acc = out_->IsReduce() ? schedule_->CacheWrite(out_) : nullptr;
    std::vector<Loop> threads, rest;
    const Loop block = CutRows(shared, &threads, &rest);
    if (!rest.empty()) {
      const auto [part, column] =
          out_->Split(out_->Fuse(rest), threads_, Tail::kGuard);
      threads.insert(across_rows_ ? threads.begin() : threads.end(), column);
      std::vector<Loop> order = threads;
      order.push_back(part);
      out_->Reorder(order);
    }
    const Loop thread = out_->Fuse(threads);
    out_->Block(block);
    out_->Thread(thread);
    if (acc != nullptr) ReduceAt(acc, out_, thread);
    return block;
  }

  // All threads of a block take the next elements of what it needs; those of
  // the last axis are neighbours, or farthest apart.
  void ScheduleInside(Stage* stage, bool last_outside, Loop block) {
    Stage* acc = stage->IsReduce() ? schedule_->CacheWrite(stage) : nullptr;
    std::vector<Loop> order = stage->axes();
    if (last_outside) {
      std::rotate(order.begin(), order.end() - 1, order.end());
    }
    const Loop step = ShareAmongThreads(stage, order, kThreads);
    if (acc != nullptr) ReduceAt(acc, stage, step);
    stage->ComputeAt(out_, block);
    stage->StoreIn(StorageOf(*stage));
  }

  // Shared memory while there is enough of it for the rows of a block.
  Storage StorageOf(const Stage& stage) {
    const int64_t bytes = BytesOfRow(stage, rows_) * kThreads / threads_;
    if (bytes > shared_bytes_) return Storage::kWorkspace;
    shared_bytes_ -= bytes;
    return Storage::kShared;
  }

  Schedule* const schedule_;
  const RowKernel kernel_;
  Stage* const out_;
  const int64_t threads_;  // for each row
  int64_t shared_bytes_;   // that are left
  int64_t rows_ = 1;
  bool across_rows_ = false;  // neighbouring threads have neighbouring rows
};

}  // namespace

ScheduleTemplate Rows() {
  ScheduleTemplate t;
  t.name = "gpu.rows";
  t.scope = TemplateScope::kAnchor;
  t.matches = [](const ScheduleSite& site) {
    if (site.machine.group_cores == 0) return false;
    const std::optional<RowKernel> kernel = FindRowKernel(site.schedule);
    if (!kernel.has_value()) return false;
    const std::vector<Stage*> reductions = ReductionsOf(site, *kernel);
    return !reductions.empty() && reductions[0] == &site.stage;
  };
  t.space = Space;
  t.build = [](Schedule* schedule, Stage*, const ScheduleChoice& choice,
               const MachineModel& machine) {
    RowScheduler(schedule, *FindRowKernel(*schedule), choice.Get("threads"),
                 machine)
        .Run();
  };
  return t;
}

}  // namespace ingot::te::gpu
