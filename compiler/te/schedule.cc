#include "compiler/te/schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {

using tir::ForKind;

// ---------------------------------------------------------------------- Stage

Stage::Stage(absl::Status* status, Operation op, bool is_output)
    : status_(status), op_(std::move(op)), is_output_(is_output) {
  ResetLoops();
}

void Stage::ResetLoops() {
  loops_.clear();
  relations_.clear();
  axes_.clear();
  reduce_axes_.clear();
  for (size_t i = 0; i < op_.axis.size(); ++i) {
    int id = AddLoop(op_.axis[i]->name, /*reduce=*/false);
    loops_[id].axis = static_cast<int>(i);
    axes_.push_back({id});
  }
  for (size_t i = 0; i < op_.reduce_axis.size(); ++i) {
    int id = AddLoop(op_.reduce_axis[i]->name, /*reduce=*/true);
    loops_[id].axis = static_cast<int>(i);
    reduce_axes_.push_back({id});
  }
  leaves_ = axes_;
  leaves_.insert(leaves_.end(), reduce_axes_.begin(), reduce_axes_.end());
  specialized_.assign(axes_.size(), false);
  places_.assign(axes_.size(), {});
  accumulate_ = Loop();
  apart_ = false;
  skips_zeros_ = false;
  prefetches_.clear();
}

int Stage::AddLoop(std::string name, bool reduce) {
  LoopInfo info;
  info.name = std::move(name);
  info.reduce = reduce;
  loops_.push_back(std::move(info));
  return static_cast<int>(loops_.size()) - 1;
}

int Stage::LeafIndex(Loop loop) const {
  auto it = std::find(leaves_.begin(), leaves_.end(), loop);
  return it == leaves_.end() ? -1 : static_cast<int>(it - leaves_.begin());
}

int Stage::LeadOf(int loop) const {
  for (int parent = loops_[loop].parent;
       parent >= 0 && !relations_[parent].is_split;
       parent = loops_[loop].parent) {
    loop = relations_[parent].outer;
  }
  return loop;
}

bool Stage::Require(bool condition, absl::string_view what) {
  if (!condition && status_->ok()) {
    *status_ = absl::FailedPreconditionError(
        absl::StrCat("schedule of ", op_.name, ": ", what));
  }
  return condition;
}

std::pair<Loop, Loop> Stage::Split(Loop loop, int64_t factor, Tail tail) {
  const int at = LeafIndex(loop);
  if (!Require(at >= 0, "split of a loop that is not a leaf") ||
      !Require(factor >= 1, "split by a factor below 1")) {
    return {loop, loop};
  }
  const LoopInfo whole = loops_[loop.id];
  if (whole.reduce && tail == Tail::kShiftInwards) tail = Tail::kGuard;
  Relation r{/*is_split=*/true, loop.id, 0, 0, factor, tail};
  r.outer = AddLoop(absl::StrCat(whole.name, "o"), whole.reduce);
  r.inner = AddLoop(absl::StrCat(whole.name, "i"), whole.reduce);
  const int relation = static_cast<int>(relations_.size());
  loops_[r.outer].parent = loops_[r.inner].parent = relation;
  loops_[loop.id].split = relation;
  relations_.push_back(r);
  leaves_[at] = {r.outer};
  leaves_.insert(leaves_.begin() + at + 1, Loop{r.inner});
  return {{r.outer}, {r.inner}};
}

Loop Stage::Fuse(Loop outer, Loop inner) {
  const int at = LeafIndex(outer);
  if (!Require(at >= 0 && LeafIndex(inner) == at + 1,
               "fused loops must be neighbours, outer first") ||
      !Require(loops_[outer.id].reduce == loops_[inner.id].reduce,
               "an output loop cannot be fused with a reduce loop")) {
    return outer;
  }
  Relation r{/*is_split=*/false, 0, outer.id, inner.id};
  r.whole =
      AddLoop(absl::StrCat(loops_[outer.id].name, "_", loops_[inner.id].name),
              loops_[outer.id].reduce);
  const int relation = static_cast<int>(relations_.size());
  loops_[r.whole].parent = relation;
  loops_[outer.id].fuse = loops_[inner.id].fuse = relation;
  relations_.push_back(r);
  leaves_[at] = {r.whole};
  leaves_.erase(leaves_.begin() + at + 1);
  return {r.whole};
}

Loop Stage::Fuse(absl::Span<const Loop> loops) {
  if (!Require(!loops.empty(), "nothing to fuse")) return Loop();
  Loop result = loops[0];
  for (Loop loop : loops.subspan(1)) result = Fuse(result, loop);
  return result;
}

void Stage::Reorder(absl::Span<const Loop> order) {
  std::vector<int> places;
  for (Loop loop : order) {
    int at = LeafIndex(loop);
    if (!Require(at >= 0, "reorder of a loop that is not a leaf")) return;
    places.push_back(at);
  }
  std::sort(places.begin(), places.end());
  if (!Require(std::adjacent_find(places.begin(), places.end()) == places.end(),
               "reorder names a loop twice")) {
    return;
  }
  for (size_t i = 0; i < order.size(); ++i) leaves_[places[i]] = order[i];
}

void Stage::SetKind(Loop loop, ForKind kind) {
  if (!Require(LeafIndex(loop) >= 0, "annotated loop is not a leaf")) return;
  loops_[loop.id].kind = kind;
}

void Stage::Vectorize(Loop loop) {
  if (loop.id >= 0 &&
      !Require(!loops_[loop.id].reduce, "a reduce loop cannot be vectorized")) {
    return;
  }
  SetKind(loop, ForKind::kVectorized);
}

void Stage::Unroll(Loop loop) { SetKind(loop, ForKind::kUnrolled); }

void Stage::Tensorize(Loop loop) {
  if (loop.id >= 0 &&
      !Require(loops_[loop.id].reduce == IsReduce(),
               "an output loop of a reduction cannot be tensorized")) {
    return;
  }
  SetKind(loop, ForKind::kTensorized);
}

void Stage::Parallel(Loop loop) {
  if (loop.id >= 0 &&
      !Require(!loops_[loop.id].reduce, "a reduce loop cannot be parallel")) {
    return;
  }
  SetKind(loop, ForKind::kParallel);
}

void Stage::Block(Loop loop) {
  if (loop.id >= 0 &&
      !Require(!loops_[loop.id].reduce, "a reduce loop cannot be blocks")) {
    return;
  }
  SetKind(loop, ForKind::kBlock);
}

void Stage::Thread(Loop loop) {
  if (loop.id >= 0 &&
      !Require(!loops_[loop.id].reduce, "a reduce loop cannot be threads")) {
    return;
  }
  SetKind(loop, ForKind::kThread);
}

void Stage::PadBox(std::vector<int64_t> padding) {
  const bool fits = padding.size() <= op_.axis.size() &&
                    std::all_of(padding.begin(), padding.end(),
                                [](int64_t more) { return more >= 0; });
  if (!Require(fits, "a box has no less than its elements")) return;
  placement_.padding = std::move(padding);
}

void Stage::CutBox(BoxParts parts) {
  const bool fits = parts.axis >= 0 && parts.size >= 1 &&
                    static_cast<size_t>(parts.axis) < op_.axis.size();
  if (!Require(fits, "parts are of an axis and have elements")) return;
  placement_.parts = parts;
}

void Stage::KeepInRegisters(std::vector<ThreadShare> shares) {
  const bool fits =
      shares.size() == axes_.size() &&
      std::all_of(shares.begin(), shares.end(), [](const ThreadShare& share) {
        return share.run >= 1 && share.threads >= 0 && share.group >= 1 &&
               share.turns >= 1 && share.threads % share.group == 0;
      });
  if (!Require(fits, "a thread's registers have an extent for each axis")) {
    return;
  }
  placement_.storage = Storage::kRegisters;
  placement_.shares = std::move(shares);
}

void Stage::KeepInResult() {
  const bool fits = consumer_ != nullptr && !consumer_->IsReduce() &&
                    consumer_->output().dtype() == output().dtype() &&
                    consumer_->output().rank() == output().rank();
  if (!Require(fits, "a result of another type or rank is no place")) return;
  placement_.storage = Storage::kResult;
}

void Stage::Specialize(Loop axis) { Specialize(axis, {}); }

void Stage::Specialize(Loop axis, std::vector<int64_t> places) {
  auto it = std::find(axes_.begin(), axes_.end(), axis);
  if (!Require(it != axes_.end(), "only axes can be specialized")) return;
  specialized_[it - axes_.begin()] = true;
  places_[it - axes_.begin()] = std::move(places);
}

void Stage::ComputeInline() {
  if (!Require(op_.kind == OperationKind::kCompute,
               "only compute is inlined") ||
      !Require(!is_output_, "an output cannot be inlined")) {
    return;
  }
  ComputeRoot();
  inlined_ = true;
}

void Stage::ComputeAt(Stage* consumer, Loop loop) {
  if (!Require(consumer != this && consumer != nullptr, "no consumer") ||
      !Require(op_.kind != OperationKind::kExtern,
               "extern operations run at the root") ||
      !Require(!is_output_, "an output is computed at the root") ||
      !Require(consumer->LeafIndex(loop) >= 0,
               "compute_at a loop that is not a leaf of the consumer")) {
    return;
  }
  inlined_ = false;
  consumer_ = consumer;
  attach_ = loop;
}

void Stage::ComputeRoot() {
  inlined_ = false;
  consumer_ = nullptr;
  attach_ = Loop();
}

void Stage::Prefetch(const Tensor& input, Loop loop, int64_t bytes_ahead,
                     int64_t least_uses) {
  AddPrefetch({input.buffer.get(), loop, bytes_ahead, least_uses, false});
}

void Stage::PrefetchInTurns(const Tensor& input, Loop loop, int64_t bytes_ahead,
                            int64_t least_uses) {
  AddPrefetch({input.buffer.get(), loop, bytes_ahead, least_uses, true});
}

void Stage::AddPrefetch(PrefetchRequest request) {
  if (Require(LeafIndex(request.loop) >= 0, "prefetch at a loop, not a leaf")) {
    prefetches_.push_back(request);
  }
}

void Stage::AccumulateAt(Loop loop) {
  if (!Require(IsReduce(), "only reductions accumulate") ||
      !Require(LeafIndex(loop) >= 0, "accumulate at a loop, not a leaf")) {
    return;
  }
  accumulate_ = loop;
  apart_ = false;
}

void Stage::ReduceApartAt(Loop loop) {
  AccumulateAt(loop);
  apart_ = true;
}

void Stage::SkipZeros() {
  if (Require(IsReduce() && op_.reducer.is_sum, "only sums skip zeros")) {
    skips_zeros_ = true;
  }
}

void Stage::SkipZeros(Loop neighbours) {
  SkipZeros();
  if (Require(LeafIndex(neighbours) >= 0, "skip zeros of a loop, not a leaf")) {
    neighbours_ = neighbours;
  }
}

// ------------------------------------------------------------------- Schedule

namespace {

class LoadCollector : public tir::StmtVisitor {
 public:
  std::vector<Tensor> found;

 protected:
  void VisitLoad(const tir::Load& node) override {
    if (seen_.insert(node.buffer.get()).second) {
      found.push_back(Tensor{node.buffer});
    }
    tir::StmtVisitor::VisitLoad(node);
  }

 private:
  std::set<const tir::BufferNode*> seen_;
};

}  // namespace

std::vector<Tensor> InputsOf(const Expr& value) {
  LoadCollector collector;
  collector.Visit(value);
  return std::move(collector.found);
}

std::vector<Tensor> InputsOf(const tir::Stmt& body) {
  LoadCollector collector;
  collector.Visit(body);
  return std::move(collector.found);
}

absl::StatusOr<Schedule> Schedule::Create(const Graph& graph,
                                          absl::Span<const Tensor> outputs) {
  std::set<const Operation*> needed;
  std::vector<const Operation*> work;
  std::set<const Operation*> output_ops;
  for (const Tensor& t : outputs) {
    const Operation* op = graph.Find(t);
    if (op == nullptr || op->kind == OperationKind::kPlaceholder) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output ", t.buffer == nullptr ? "(null)" : t.buffer->name,
          " is not computed by the graph"));
    }
    output_ops.insert(op);
    if (needed.insert(op).second) work.push_back(op);
  }
  while (!work.empty()) {
    const Operation* op = work.back();
    work.pop_back();
    for (const Tensor& t : op->inputs) {
      const Operation* producer = graph.Find(t);
      if (producer == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat(op->name, " reads ", t.buffer->name,
                         ", which is not a tensor of the graph"));
      }
      if (producer->kind == OperationKind::kPlaceholder) continue;
      if (needed.insert(producer).second) work.push_back(producer);
    }
  }
  Schedule schedule;
  for (const auto& op : graph.operations()) {
    if (needed.count(op.get()) == 0) continue;
    schedule.stages_.push_back(std::unique_ptr<Stage>(new Stage(
        schedule.status_.get(), *op, output_ops.count(op.get()) != 0)));
  }
  return schedule;
}

Schedule Schedule::Clone() const {
  Schedule copy;
  *copy.status_ = *status_;
  std::map<const Stage*, Stage*> copy_of;
  for (const auto& stage : stages_) {
    copy.stages_.push_back(std::unique_ptr<Stage>(new Stage(*stage)));
    copy.stages_.back()->status_ = copy.status_.get();
    copy_of[stage.get()] = copy.stages_.back().get();
  }
  for (const auto& stage : copy.stages_) {
    if (stage->consumer_ != nullptr) {
      stage->consumer_ = copy_of.at(stage->consumer_);
    }
  }
  return copy;
}

std::vector<Stage*> Schedule::stages() const {
  std::vector<Stage*> result;
  for (const auto& stage : stages_) result.push_back(stage.get());
  return result;
}

Stage* Schedule::Find(const tir::BufferNode* buffer) const {
  for (const auto& stage : stages_) {
    for (const Tensor& t : stage->op_.outputs) {
      if (t.buffer.get() == buffer) return stage.get();
    }
  }
  return nullptr;
}

std::vector<Stage*> Schedule::Readers(const Stage* stage) const {
  std::vector<Stage*> result;
  for (const auto& candidate : stages_) {
    for (const Tensor& t : candidate->op_.inputs) {
      if (Find(t) != stage) continue;
      result.push_back(candidate.get());
      break;
    }
  }
  return result;
}

Stage* Schedule::InsertBefore(const Stage* before, Operation op) {
  auto it = std::find_if(
      stages_.begin(), stages_.end(),
      [before](const auto& stage) { return stage.get() == before; });
  std::unique_ptr<Stage> stage(
      new Stage(status_.get(), std::move(op), /*is_output=*/false));
  Stage* result = stage.get();
  stages_.insert(it, std::move(stage));
  return result;
}

}  // namespace ingot::te
