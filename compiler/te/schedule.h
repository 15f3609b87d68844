// A schedule says how the loops of a Graph run: a value beside the definition,
// changed by verbs, made into loops by Lower (lower.h).
//
//   ASSIGN_OR_RETURN(Schedule s, Schedule::Create(graph, {d}));
//   Stage* out = s.Find(d);
//   Stage* acc = s.CacheWrite(out);             // registers for the result
//   auto [io, ii] = out->Split(out->axis(0), 6);
//   auto [jo, ji] = out->Split(out->axis(1), 16);
//   out->Reorder({io, jo, ii, ji});
//   acc->ComputeAt(out, jo);
//
// Misuse of a verb is a bug of the schedule's author; the first one is kept in
// Schedule::status(), later verbs on it do nothing harmful, and Lower returns
// it. Not thread-safe; stages are owned by their schedule.
#ifndef INGOT_COMPILER_TE_SCHEDULE_H_
#define INGOT_COMPILER_TE_SCHEDULE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/te/te.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

class Schedule;
class Stage;

class LoopState;

// A loop of one stage: a handle.
struct Loop {
  int id = -1;
  bool operator==(Loop o) const { return id == o.id; }
};

// The end of a split when the factor does not divide the extent n. Where it is
// known to divide, and where n <= factor, all are the same and cost nothing.
enum class Tail {
  // for o in n // f: for i in f: body; then the rest once more with a smaller
  // inner loop: n % f iterations when n is a constant; when it is not, the
  // outer loop takes the single steps that are left, each with an inner loop
  // of one; before them, if the inner loop is unrolled or split, it takes steps
  // of a fourth of the factor and so on. Where the factor is 7 or less and the
  // inner loop is unrolled, one step takes what is left, or two equal ones that
  // and the last f. No conditions inside loops. Needs the outer loop unsplit
  // and unfused; otherwise kGuard.
  kPartition,
  // for o in ceil(n / f): for i in f: if (o * f + i < n) body
  kGuard,
  // for o in ceil(n / f): for i in f: body at min(o * f, n - f) + i. Computes
  // some elements twice, so only for output axes, and only where n is known to
  // be >= f; otherwise kGuard. Not for a kernel whose output may share memory
  // with what it reads.
  kShiftInwards,
  // for o in ceil(n / f): for i in min(f, n - o * f): body. For an inner loop
  // that may be one of unknown extent, neither lanes nor unrolled: there is no
  // code for the tail. Needs the outer loop outside; otherwise kGuard.
  kShorten,
  // The caller knows that f divides n.
  kExact,
};

// The memory in which an intermediate result lives.
enum class Storage {
  // On the stack when it is computed inside a consumer's loop, with a box
  // of constant size that is not too large; in a workspace otherwise.
  kAuto,
  // The same, but never on the stack: other results need the room, or several
  // threads compute it. Inside of a parallel loop of known extent each
  // iteration
  // has a box of its own.
  kBox,
  // In a workspace of the tensor's whole shape, wherever it is computed.
  kWorkspace,
  // Inside of a block loop: one box of constant size for all of its threads.
  kShared,
  // Inside of a block loop: such a box, each element of which is one thread's
  // own (Stage::KeepInRegisters).
  kRegisters,
  // In the consumer's own result, each element in the place of the one that is
  // made of it (Stage::KeepInResult).
  kResult,
};

// Says how an axis is spread over threads: runs of so many neighbours belong to
// one thread after the other, and those after the last thread to the first
// again.
struct ThreadShare {
  int64_t run = 1;
  int64_t threads = 0;  // 0: as many as there are runs
  // Each `group` of threads takes so many runs a thread, in turns, before the
  // next group does.
  int64_t group = 1, turns = 1;
};

// An axis in parts of so many elements. In memory each part, with all of the
// other axes, follows the one before it.
struct BoxParts {
  int axis = 0;
  int64_t size = 1;
};

// Says where a stage's result lives, and how.
struct Placement {
  Storage storage = Storage::kAuto;
  std::vector<ThreadShare> shares;  // Storage::kRegisters: of each axis
  std::vector<int64_t> padding;     // Stage::PadBox; of the last axes
  std::optional<BoxParts> parts;    // Stage::CutBox
};

// One operation's loops. Starts with a serial loop for each axis, then one for
// each reduce axis. "Leaves" are the loops that will be made, outermost first.
class Stage {
 public:
  const Operation& op() const { return op_; }
  const Tensor& output() const { return op_.outputs[0]; }
  bool is_output() const { return is_output_; }
  bool IsReduce() const { return op_.kind == OperationKind::kReduce; }
  bool IsInlined() const { return inlined_; }
  // No verb but CacheWrite has changed its loops yet.
  bool IsUntouched() const {
    return relations_.empty() && consumer_ == nullptr;
  }
  bool IsAttached() const { return consumer_ != nullptr; }
  // The stage whose loop it is computed in; null at the root.
  Stage* consumer() const { return consumer_; }

  // Loops of the definition's axes; valid as leaves until split or fused.
  Loop axis(int i) const { return axes_[i]; }
  Loop reduce_axis(int i) const { return reduce_axes_[i]; }
  const std::vector<Loop>& axes() const { return axes_; }
  const std::vector<Loop>& reduce_axes() const { return reduce_axes_; }
  const std::vector<Loop>& leaves() const { return leaves_; }

  // loop (n) -> outer (n / factor), inner (factor), in its place. See Tail for
  // an n that factor does not divide.
  std::pair<Loop, Loop> Split(Loop loop, int64_t factor,
                              Tail tail = Tail::kPartition);
  // outer (n), inner (m), next to each other -> one loop (n * m) in the place
  // of outer. Both output loops or both reduce loops.
  Loop Fuse(Loop outer, Loop inner);
  Loop Fuse(absl::Span<const Loop> loops);
  // The given leaves in the given order, in the places that they hold now.
  void Reorder(absl::Span<const Loop> order);
  // for -> vectorized / unrolled for. The extent must be a constant when the
  // loop is made; where it is not (a symbolic tail), the loop stays serial. A
  // vectorized loop should be the innermost and not a reduce loop.
  void Vectorize(Loop loop);
  void Unroll(Loop loop);
  // for -> tensorized for: this reduce loop and all loops inside it are one
  // multiplication of tiles (tir::ForKind::kTensorized), which inside of a
  // thread loop the threads of a warp make together. Of a stage that copies
  // inside of a loop over one thread, they are one copy of boxes.
  void Tensorize(Loop loop);
  // for -> parallel for. Only the outermost parallel loop of a nest counts.
  void Parallel(Loop loop);
  // for -> block for, and -> thread for (tir::ForKind::kBlock): the stage at
  // the root has a loop over blocks, and it and all stages that are computed
  // inside of that have a loop over the block's threads, of constant extent,
  // around whatever they store.
  void Block(Loop loop);
  void Thread(Loop loop);
  // One loop -> a sequence of loops, cut where a condition of a Select in the
  // value compares this axis with a bound. In each the condition is decided,
  // so a padding becomes: zeros; a copy; zeros. For an axis of the definition.
  void Specialize(Loop axis);
  // The same, cut at these places instead, which rise: where the conditions of
  // a stage that is computed inside change.
  void Specialize(Loop axis, std::vector<int64_t> places);

  // No loops: the value is put where it is read. Not for reductions, outputs
  // or extern operations.
  void ComputeInline();
  // The loops run inside `loop` of `consumer`, for the box that one
  // iteration of it reads. All readers must be there, or attached there.
  void ComputeAt(Stage* consumer, Loop loop);
  // Its own loop nest, in the order of the graph, as at first.
  void ComputeRoot();
  // Reductions: inside `loop`, the elements that the loops inside it update
  // are kept in a small stack array, which becomes registers once the loops
  // over it are unrolled. Before: loaded from the result, or started from the
  // identity when `loop` is outside all reduce loops. After: stored.
  //   for o: for k: for i: c[o,i] += x     with AccumulateAt(o) becomes
  //   for o: {for i: t[i] = 0; for k: for i: t[i] += x; for i: c[o,i] = t[i]}
  void AccumulateAt(Loop loop);
  // The same inside a reduce loop, with results of their own, which start from
  // the identity and join the whole after: a sum of sums of blocks, which loses
  // fewer digits than one chain of additions.
  //   for ko: for ki: c += x                with ReduceApartAt(ko) becomes
  //   for ko: {t = 0; for ki: t += x; c += t}
  void ReduceApartAt(Loop loop);
  // Sums: iterations of loops over whole reduce axes that would add nothing but
  // zeros, as those of a window's taps that lie on padding, are left out as far
  // as the loops around them tell. What the zeros would be multiplied by is
  // taken to be finite.
  void SkipZeros();
  // The same where the loops inside of those over reduce axes tell more, which
  // a run decides: one over `neighbours` is among them. An iteration is left
  // out where all of them read zeros only. Where some do, each is made by
  // itself, in a loop outside of the others, and left out or not.
  void SkipZeros(Loop neighbours);
  // Each iteration of `loop`, which is a loop and no lanes or copies, asks for
  // what one so many bytes later in the memory of `input` will read: for a
  // tensor of constant shape that is read in order. Where it is not, as where
  // the loop's place in it is not a constant number of bytes after the one
  // before, it asks for nothing; nor where it reads each element for fewer than
  // `least_uses` results, as it may in the tail of a split.
  void Prefetch(const Tensor& input, Loop loop, int64_t bytes_ahead,
                int64_t least_uses = 1);
  // The same where one of the loops around the reduction chooses results but no
  // elements of `input`, so that its iterations read the same ones: these ask
  // in turns for equal parts of what follows in memory, the first few of them
  // where their number is not known. So it arrives while there is work that
  // does not wait for it. Else it is Prefetch.
  void PrefetchInTurns(const Tensor& input, Loop loop, int64_t bytes_ahead,
                       int64_t least_uses = 1);
  void StoreIn(Storage storage) { placement_.storage = storage; }
  // Makes the box longer in memory by so many elements along each of the last
  // axes, so that what is used at once lies in different banks of shared memory
  // or different sets of a cache.
  void PadBox(std::vector<int64_t> padding);
  // Keeps a box of Storage::kBox in parts, each padded as PadBox says. Threads
  // that use one part each do not read ahead into another's. No effect inside
  // of a parallel loop.
  void CutBox(BoxParts parts);
  // Storage::kRegisters: the box is spread over threads, and a thread must use
  // what is its own alone, here and in all readers.
  void KeepInRegisters(std::vector<ThreadShare> shares);
  // Storage::kResult, after ComputeAt: the consumer, whose result has the same
  // type and shape, must read each element only where it makes the one that
  // takes its place, and after all others have read it.
  void KeepInResult();

 private:
  friend class Schedule;
  friend class LoopState;
  friend class Lowerer;
  friend std::vector<tir::Stmt> PrefetchesOf(const LoopState& state, Loop loop);

  struct LoopInfo {
    std::string name;
    bool reduce = false;
    tir::ForKind kind = tir::ForKind::kSerial;
    int axis = -1;    // index of the axis (or reduce axis) it stands for
    int split = -1;   // the relation that consumed it, or
    int fuse = -1;    //   ditto
    int parent = -1;  // the relation that made it
  };
  struct Relation {
    bool is_split;
    int whole;         // split: the loop that was split; fuse: the result
    int outer, inner;  // split: the results; fuse: the loops that were fused
    int64_t factor = 0;
    Tail tail = Tail::kGuard;
  };

  struct PrefetchRequest {
    const tir::BufferNode* input;
    Loop loop;
    int64_t bytes_ahead;
    int64_t least_uses;
    bool in_turns;
  };

  Stage(absl::Status* status, Operation op, bool is_output);
  int AddLoop(std::string name, bool reduce);
  int LeafIndex(Loop loop) const;  // -1 when it is not a leaf
  // The outermost of the loops that were fused into this one: itself if none.
  int LeadOf(int loop) const;
  // Keeps the first misuse; returns `condition`.
  bool Require(bool condition, absl::string_view what);
  void ResetLoops();
  void SetKind(Loop loop, tir::ForKind kind);
  void AddPrefetch(PrefetchRequest request);

  absl::Status* status_;  // the schedule's
  Operation op_;          // a copy: verbs may change it
  bool is_output_;
  std::vector<LoopInfo> loops_;
  std::vector<Relation> relations_;
  std::vector<Loop> axes_, reduce_axes_, leaves_;
  std::vector<bool> specialized_;             // parallel to axes_
  std::vector<std::vector<int64_t>> places_;  // the same; none: by conditions
  bool inlined_ = false;
  Stage* consumer_ = nullptr;
  Loop attach_;
  Loop accumulate_;
  bool apart_ = false;  // what is accumulated there joins what was before
  bool skips_zeros_ = false;
  Loop neighbours_;  // that skip zeros together, or each by itself
  std::vector<PrefetchRequest> prefetches_;
  Placement placement_;
};

class Schedule {
 public:
  // A stage for every operation that `outputs` need. `graph` must outlive the
  // schedule. InvalidArgument: an output that is not computed by the graph.
  static absl::StatusOr<Schedule> Create(const Graph& graph,
                                         absl::Span<const Tensor> outputs);
  Schedule(Schedule&&) = default;
  Schedule& operator=(Schedule&&) = default;

  // The same stages and loops, apart.
  Schedule Clone() const;

  const absl::Status& status() const { return *status_; }
  // In an order in which producers come first. Placeholders have no stage.
  std::vector<Stage*> stages() const;
  // The stage that computes `t`; null for placeholders and tensors of another
  // graph.
  Stage* Find(const Tensor& t) const { return Find(t.buffer.get()); }
  Stage* Find(const tir::BufferNode* buffer) const;
  // Stages that read the stage's outputs. Inlined ones are not looked through.
  std::vector<Stage*> Readers(const Stage* stage) const;

  // The verbs below change definitions: the schedule has its own copies.

  // A new stage computes what `stage` did, and `stage` copies from it. Call it
  // before other verbs on `stage`, which loses its loops.
  Stage* CacheWrite(Stage* stage);
  // The same where the new stage computes more: it has at least the shape and
  // the terms of `stage`, and nothing reads what is beyond. The caller sees to
  // it that terms beyond change nothing, and (CacheRead) that nothing is read
  // outside of its memory.
  Stage* CacheWrite(Stage* stage, std::vector<Expr> shape,
                    std::vector<Expr> terms);
  // A new stage of shape `shape`, at each point `value`. In `consumer`, loads
  // of the buffer of `access` at its indices, which are in terms of the
  // consumer's axes, become loads of the new stage at `index`. To pack an
  // operand into another layout or to copy a tile of it. Loads of the same
  // buffer at other indices stay, because one tensor may be several operands.
  // Where `value` is of another type than the access, conversions of the loads
  // to that type become the loads of the new stage.
  Stage* CacheRead(Stage* consumer, const tir::Load& access,
                   absl::string_view name, std::vector<Expr> shape,
                   const Graph::ComputeFn& value, const Indices& index);
  // Makes a reduction run, along its last reduce axis, in `lanes` independent
  // partial results: a new stage reduces every lanes-th element, further ones
  // halve the partial results until one is left, and one more takes the
  // elements beyond the last multiple of `lanes`. Returns the new stages, the
  // first of them with axes (those of `stage`..., lane) and all reduce axes.
  // `stage` becomes a compute stage that joins what is left. `lanes` is a power
  // of 2.
  std::vector<Stage*> SplitReduction(Stage* stage, int64_t lanes);
  // Makes a reduction one of `chunks` partial results, each of neighbours along
  // a reduce axis, whose extent is a multiple of `chunks`. A new stage
  // with axes (chunk, those of `stage`...) reduces them, and `stage` becomes a
  // compute stage that joins them. Returns the new stage.
  Stage* ReduceInChunks(Stage* stage, size_t reduce_axis, int64_t chunks);
  // Makes a reduction one whose axes from `first` to `last`, of constant
  // extents, are one axis, so that a tile of it may have points of several
  // rows. `stage` becomes a compute stage that copies from the new one, which
  // is returned.
  Stage* JoinAxes(Stage* stage, int first, int last);
  // Makes a reduction one along a single axis that goes through all of its
  // reduce axes, of constant extents, the last the fastest.
  void JoinReduceAxes(Stage* stage);
  // The stage's result is made by `loops`, written by hand for what the verbs
  // cannot say; they store to its output. Stages that nothing reads any more
  // are gone.
  void WriteLoops(Stage* stage, tir::Stmt loops);
  // Makes a reduction one of `parts` partial results, each of every parts-th
  // element of the innermost reduce axes: of as many of these, taken as one, as
  // have that many elements together. New stages with axes (those of
  // `stage`..., part) compute them and then reduce them, some at a time, to
  // one. `stage` becomes a compute stage that reads that. Returns the new
  // stages. Reduce axes have constant extents, and `parts` is a power of 2.
  std::vector<Stage*> ShareReduction(Stage* stage, int64_t parts);
  // Inlines every stage marked so, by rewriting the values of readers. Lower
  // does it first; a schedule may do it earlier to see the final values.
  void ApplyInlining();

 private:
  friend class Stage;
  friend class Lowerer;

  Schedule() : status_(std::make_unique<absl::Status>()) {}
  Stage* InsertBefore(const Stage* before, Operation op);

  std::unique_ptr<absl::Status> status_;
  std::vector<std::unique_ptr<Stage>> stages_;
};

// The tensors that it reads, each once, in order of first use.
std::vector<Tensor> InputsOf(const Expr& value);
std::vector<Tensor> InputsOf(const tir::Stmt& body);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_SCHEDULE_H_
