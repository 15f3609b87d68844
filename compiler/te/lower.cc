#include "compiler/te/lower.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/te/body_rewriter.h"
#include "compiler/te/boxes.h"
#include "compiler/te/loop_state.h"
#include "compiler/te/prefetches.h"
#include "compiler/te/workspaces.h"
#include "compiler/te/zeros.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {

using tir::ForKind;
using tir::Stmt;

namespace {

// Puts the buffers of an extern body in their places.
class BufferRenamer : public tir::StmtMutator {
 public:
  void Rename(const tir::Buffer& from, const tir::Buffer& to) {
    ReplaceBuffer(from, to);
  }
};

// The first one outermost.
Stmt WithLets(const Lets& lets, Stmt body) {
  for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
    body = tir::MakeLet(it->first, it->second, body);
  }
  return body;
}

Expr AllOf(const std::vector<Expr>& conditions) {
  Expr all = conditions[0];
  for (size_t i = 1; i < conditions.size(); ++i) {
    all = tir::And(all, conditions[i]);
  }
  return all;
}

}  // namespace

class Lowerer {
 public:
  explicit Lowerer(const Schedule& schedule) : schedule_(schedule) {}

  absl::StatusOr<tir::PrimFunc> Run(absl::string_view name, const Graph& graph,
                                    absl::Span<const Tensor> inputs,
                                    absl::Span<const Tensor> outputs);

 private:
  // Makes the loops around what `body` makes.
  using BodyFn = std::function<Stmt(LoopState)>;

  Stmt EmitStage(LoopState state);
  Stmt EmitExtern(const Stage* stage);
  Stmt EmitFrom(LoopState state, size_t leaf);
  Stmt EmitLoop(LoopState state, Loop loop, const BodyFn& body);
  Stmt EmitPartition(LoopState state, Loop loop, const BodyFn& body);
  Stmt EmitInside(LoopState state, size_t leaf, Loop loop);
  Stmt EmitTerms(LoopState state, Loop loop, const BodyFn& body);
  Stmt EmitWhereTerms(LoopState state, int axis, const BodyFn& body);
  Stmt EmitOneLoop(LoopState state, Loop loop, Affine min, Affine extent,
                   const std::function<void(LoopState*, Affine)>& bind,
                   const BodyFn& body);
  // Loops over the output leaves from `leaf` on.
  Stmt EmitOutputLoops(LoopState state, size_t leaf, const BodyFn& body);
  Stmt EmitAccumulate(LoopState state, size_t leaf);
  Stmt EmitStart(const LoopState& state);
  Stmt EmitBody(const LoopState& state);
  Stmt Guarded(const LoopState& state, Stmt body);
  std::vector<Expr> TargetIndices(const LoopState& state,
                                  const Place& target) const;
  void Fail(absl::Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

  const Schedule& schedule_;
  absl::Status status_;
  Workspaces workspaces_;
  // Root stages' places; attached ones are in the states.
  std::map<const tir::BufferNode*, Place> root_places_;
};

std::vector<Expr> Lowerer::TargetIndices(const LoopState& state,
                                         const Place& target) const {
  std::vector<Affine> element;
  for (size_t i = 0; i < state.box.size(); ++i) {
    element.push_back(state.AxisRange(i).min);
  }
  return target.At(std::move(element), state.bounds);
}

Stmt Lowerer::Guarded(const LoopState& state, Stmt body) {
  std::vector<Expr> conditions = state.Conditions();
  return conditions.empty() ? body : tir::MakeIf(AllOf(conditions), body);
}

Stmt Lowerer::EmitStart(const LoopState& state) {
  return Guarded(state, tir::MakeStore(state.target.buffer,
                                       TargetIndices(state, state.target),
                                       state.stage->op().reducer.identity));
}

Stmt Lowerer::EmitBody(const LoopState& state) {
  const Operation& op = state.stage->op();
  Expr value = BodyRewriter(state).Mutate(op.value);
  std::vector<Expr> at = TargetIndices(state, state.target);
  if (state.stage->IsReduce()) {
    value = op.reducer.combine(tir::MakeLoad(state.target.buffer, at), value);
  }
  Stmt store = tir::MakeStore(state.target.buffer, std::move(at), value);
  if (state.stage->IsReduce() && !state.started) {
    // No reduce loops at all.
    return tir::MakeSeq({EmitStart(state), Guarded(state, store)});
  }
  return Guarded(state, store);
}

// One loop, or none where it runs once. `bind` records what the variable's
// value means.
Stmt Lowerer::EmitOneLoop(LoopState state, Loop loop, Affine min, Affine extent,
                          const std::function<void(LoopState*, Affine)>& bind,
                          const BodyFn& body) {
  auto constant = extent.AsConst();
  if (constant && *constant <= 0) return tir::MakeSeq({});
  const auto& info = state.stage->loops_[loop.id];
  const bool stays = (info.kind == ForKind::kBlock && !state.in_parallel) ||
                     (info.kind == ForKind::kThread && !state.in_thread);
  if (constant && *constant == 1 && !stays) {
    bind(&state, min);
    return body(std::move(state));
  }
  const ForKind kind = state.EnterLoop(info.kind, constant.has_value());
  if (kind == ForKind::kThread && !constant) {
    Fail(absl::FailedPreconditionError(
        absl::StrCat(info.name, " of ", state.stage->op().name,
                     " runs on an unknown number of threads")));
  }
  tir::VarPtr var = tir::MakeVar(info.name);
  state.bounds.Set(var.get(), min, min + extent - Affine(1));
  if (kind == ForKind::kParallel && constant) {
    state.task = Task{Affine::Atom(var) - min, *constant};
  }
  bind(&state, Affine::Atom(var));

  Lets lets;
  if (kind == ForKind::kSerial || kind == ForKind::kParallel ||
      kind == ForKind::kBlock || kind == ForKind::kThread) {
    lets = state.NameFused(loop.id);
  }
  return tir::MakeFor(var, min.ToExpr(), extent.ToExpr(), kind,
                      WithLets(lets, body(std::move(state))));
}

Stmt Lowerer::EmitLoop(LoopState state, Loop loop, const BodyFn& body) {
  const Stage* stage = state.stage;
  auto plain = [loop](LoopState* s, Affine value) { s->Bind(loop.id, value); };

  // The axis that the loop is made of, through splits only.
  int root = loop.id;
  while (stage->loops_[root].parent >= 0 &&
         stage->relations_[stage->loops_[root].parent].is_split) {
    root = stage->relations_[stage->loops_[root].parent].whole;
  }
  const auto& root_info = stage->loops_[root];
  if (root_info.parent < 0 && !root_info.reduce &&
      stage->specialized_[root_info.axis] &&
      !state.specialized_done[root_info.axis]) {
    const int axis = root_info.axis;
    state.specialized_done[axis] = true;
    std::vector<Stmt> parts;
    for (const Part& part : PartsOf(state, axis, stage->places_[axis])) {
      LoopState inside = state;
      inside.box[axis] = part.side;
      parts.push_back(EmitLoop(std::move(inside), loop, [&](LoopState in_loop) {
        in_loop.KnowPart(axis, part.from, part.to);
        return body(std::move(in_loop));
      }));
    }
    return tir::MakeSeq(std::move(parts));
  }

  const int parent = stage->loops_[loop.id].parent;
  if (stage->skips_zeros_ && root_info.reduce && parent < 0) {
    return EmitTerms(std::move(state), loop, body);
  }
  const bool is_outer = parent >= 0 && stage->relations_[parent].is_split &&
                        stage->relations_[parent].outer == loop.id;
  if (!is_outer || state.TailOf(parent) != Tail::kPartition) {
    return EmitOneLoop(state, loop, Affine(0), state.Extent(loop.id), plain,
                       body);
  }
  return EmitPartition(std::move(state), loop, body);
}

// The outer loop of a split: whole tiles, then what they leave over.
Stmt Lowerer::EmitPartition(LoopState state, Loop loop, const BodyFn& body) {
  const int parent = state.stage->loops_[loop.id].parent;
  const auto& r = state.stage->relations_[parent];
  const Affine whole = state.Extent(r.whole);
  const auto plain = [loop](LoopState* s, Affine value) {
    s->Bind(loop.id, std::move(value));
  };
  const auto whole_tiles = [&](const Affine& count) {
    LoopState main = state;
    main.SetExtent(loop.id, count);
    // The main part divides: nothing that is asked of it later sees the tail.
    main.SetExtent(r.whole, count * r.factor);
    return EmitOneLoop(main, loop, Affine(0), count, plain, body);
  };
  const Affine most =
      state.bounds.ToAffine(whole.ToExpr() / tir::MakeInt(r.factor));
  if (const Affine left = whole - most * r.factor; left.AsConst()) {
    Stmt main_loop = whole_tiles(most);
    LoopState tail = state;
    tail.SetExtent(r.inner, left);
    tail.SetBase(parent, most * r.factor);
    tail.Bind(loop.id, most);
    return tir::MakeSeq({main_loop, body(std::move(tail))});
  }
  const std::vector<int64_t> steps = state.TailSteps(parent);
  // Numbers that many others are made of get names.
  Lets lets;
  const auto named = [&](const Affine& value, const Affine& bound) {
    if (steps.size() == 1 || value.AsConst()) return value;
    tir::VarPtr let = tir::MakeVar(state.stage->loops_[loop.id].name);
    lets.emplace_back(let, value.ToExpr());
    state.bounds.Set(let.get(), Affine(0), bound);
    return Affine::Atom(let);
  };
  const Affine count = named(state.WholeTiles(parent), most);
  std::vector<Stmt> parts = {whole_tiles(count)};
  Affine done = count * r.factor;
  for (const int64_t step : steps) {
    const Affine left = whole - done;
    const Affine times =
        step == 1
            ? left
            : named(state.TimesOf(step, left, parent),
                    state.bounds.ToAffine(left.ToExpr() / tir::MakeInt(step)));
    LoopState tail = state;
    tail.SetExtent(r.inner, Affine(step));
    const auto bind_step = [&](LoopState* s, Affine value) {
      s->SetBase(parent, step == 1 ? value : done + value * step);
      s->Bind(loop.id, std::move(value));
    };
    parts.push_back(EmitOneLoop(tail, loop, step == 1 ? done : Affine(0), times,
                                bind_step, body));
    done = done + times * step;
  }
  return WithLets(lets, tir::MakeSeq(std::move(parts)));
}

// A loop over a whole reduce axis, without iterations that add zeros.
Stmt Lowerer::EmitTerms(LoopState state, Loop loop, const BodyFn& body) {
  const int axis = state.stage->loops_[loop.id].axis;
  const Side live = IterationsWithTerms(state, axis);
  auto bind = [loop](LoopState* s, Affine value) { s->Bind(loop.id, value); };
  return EmitOneLoop(std::move(state), loop, live.min, live.extent, bind,
                     [&](LoopState inside) {
                       return EmitWhereTerms(std::move(inside), axis, body);
                     });
}

// An iteration of a loop over a reduce axis, unless it adds nothing but zeros.
Stmt Lowerer::EmitWhereTerms(LoopState state, int axis, const BodyFn& body) {
  const TermConditions conditions = ConditionsOfTerms(state, axis);
  for (const Expr& c : conditions.some) state.bounds.PushFact(c);
  LoopState whole = state;
  for (const Expr& c : conditions.all) whole.bounds.PushFact(c);
  Stmt terms = body(std::move(whole));
  if (!conditions.all.empty()) {
    const Loop neighbours = state.stage->neighbours_;
    Stmt each =
        EmitLoop(std::move(state), neighbours, [&](LoopState neighbour) {
          return EmitWhereTerms(std::move(neighbour), axis, body);
        });
    terms = tir::MakeIf(AllOf(conditions.all), terms, each);
  }
  return conditions.some.empty() ? terms
                                 : tir::MakeIf(AllOf(conditions.some), terms);
}

Stmt Lowerer::EmitOutputLoops(LoopState state, size_t leaf,
                              const BodyFn& body) {
  const auto& leaves = state.stage->leaves();
  while (leaf < leaves.size() && state.stage->loops_[leaves[leaf].id].reduce) {
    ++leaf;
  }
  if (leaf == leaves.size()) return body(std::move(state));
  return EmitLoop(std::move(state), leaves[leaf], [&](LoopState inside) {
    return EmitOutputLoops(std::move(inside), leaf + 1, body);
  });
}

// Inside the loop named by AccumulateAt or ReduceApartAt: the same loops, but
// into a small array. Falls back to working in place when the size is not a
// constant.
Stmt Lowerer::EmitAccumulate(LoopState state, size_t leaf) {
  std::vector<Expr> shape;
  Place tile;
  for (size_t i = 0; i < state.box.size(); ++i) {
    Side side = state.AxisRange(i);
    auto extent = side.extent.AsConst();
    if (!extent || side.inexact) return EmitFrom(std::move(state), leaf);
    shape.push_back(tir::MakeInt(*extent));
    tile.origin.push_back(side.min);
  }
  const Tensor& t = state.stage->output();
  tile.buffer = tir::MakeBuffer(absl::StrCat(t.buffer->name, ".tile"),
                                t.dtype(), shape, tir::Scope::kStack);
  const Place result = state.target;
  LoopState inside = state;
  inside.target = tile;
  const bool joins = state.started && state.stage->apart_;
  Stmt before;
  if (!state.started || joins) {
    before = EmitOutputLoops(
        inside, leaf, [this](const LoopState& s) { return EmitStart(s); });
    inside.started = true;
  } else {
    before = EmitOutputLoops(inside, leaf, [&](const LoopState& s) {
      return Guarded(
          s, tir::MakeStore(
                 tile.buffer, TargetIndices(s, tile),
                 tir::MakeLoad(result.buffer, TargetIndices(s, result))));
    });
  }
  Stmt update = EmitFrom(inside, leaf);
  Stmt after = EmitOutputLoops(inside, leaf, [&](const LoopState& s) {
    const std::vector<Expr> at = TargetIndices(s, result);
    Expr value = tir::MakeLoad(tile.buffer, TargetIndices(s, tile));
    if (joins) {
      value = state.stage->op().reducer.combine(
          tir::MakeLoad(result.buffer, at), value);
    }
    return Guarded(s, tir::MakeStore(result.buffer, at, value));
  });
  return tir::MakeAllocate(tile.buffer, tir::MakeSeq({before, update, after}));
}

// Emits one iteration of `loop`: attached producers, then the rest.
Stmt Lowerer::EmitInside(LoopState state, size_t leaf, Loop loop) {
  std::vector<Stmt> stmts = PrefetchesOf(state, loop);
  std::vector<tir::Buffer> locals;
  for (const auto& producer : schedule_.stages_) {
    if (producer->consumer_ != state.stage || !(producer->attach_ == loop)) {
      continue;
    }
    auto box = RequiredBox(schedule_, producer.get(), state);
    if (!box.ok()) {
      Fail(box.status());
      return tir::MakeSeq({});
    }
    tir::Buffer local;
    Place place = workspaces_.PlaceFor(*producer, producer->placement_, *box,
                                       &state, &local);
    if (local != nullptr) locals.push_back(local);
    LoopState inner = state.Of(producer.get(), *std::move(box));
    inner.target = place;
    stmts.push_back(EmitStage(std::move(inner)));
    state.places[producer->output().buffer.get()] = place;
  }
  const bool accumulate = state.stage->accumulate_ == loop;
  stmts.push_back(accumulate ? EmitAccumulate(std::move(state), leaf)
                             : EmitFrom(std::move(state), leaf));
  Stmt result = tir::MakeSeq(std::move(stmts));
  for (auto it = locals.rbegin(); it != locals.rend(); ++it) {
    result = tir::MakeAllocate(*it, result);
  }
  return result;
}

Stmt Lowerer::EmitFrom(LoopState state, size_t leaf) {
  if (!status_.ok()) return tir::MakeSeq({});
  const auto& leaves = state.stage->leaves();
  if (leaf == leaves.size()) return EmitBody(state);
  const Loop loop = leaves[leaf];
  // Neighbours that skip zeros are made before what is outside of them.
  if (state.IsBound(loop.id)) return EmitFrom(std::move(state), leaf + 1);
  if (state.stage->loops_[loop.id].reduce && !state.started) {
    Stmt start = EmitOutputLoops(
        state, leaf, [this](const LoopState& s) { return EmitStart(s); });
    state.started = true;
    return tir::MakeSeq({start, EmitFrom(std::move(state), leaf)});
  }
  return EmitLoop(std::move(state), loop, [&](LoopState inside) {
    return EmitInside(std::move(inside), leaf + 1, loop);
  });
}

Stmt Lowerer::EmitStage(LoopState state) {
  return EmitFrom(std::move(state), 0);
}

Stmt Lowerer::EmitExtern(const Stage* stage) {
  BufferRenamer renamer;
  for (const Tensor& t : stage->op().outputs) {
    auto it = root_places_.find(t.buffer.get());
    if (it->second.buffer != t.buffer) {
      renamer.Rename(t.buffer, it->second.buffer);
    }
  }
  for (const Tensor& t : stage->op().inputs) {
    auto it = root_places_.find(t.buffer.get());
    if (it != root_places_.end() && it->second.buffer != t.buffer) {
      renamer.Rename(t.buffer, it->second.buffer);
    }
  }
  return renamer.Mutate(stage->op().body);
}

absl::StatusOr<tir::PrimFunc> Lowerer::Run(absl::string_view name,
                                           const Graph& graph,
                                           absl::Span<const Tensor> inputs,
                                           absl::Span<const Tensor> outputs) {
  tir::PrimFunc func;
  func.name = std::string(name);
  func.num_outputs = static_cast<int>(outputs.size());
  std::set<const tir::BufferNode*> known;
  for (const Tensor& t : inputs) {
    const Operation* op = graph.Find(t);
    if (op == nullptr || op->kind != OperationKind::kPlaceholder) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input ", t.buffer == nullptr ? "(null)" : t.buffer->name,
          " is not a placeholder of the graph"));
    }
    known.insert(t.buffer.get());
    func.params.push_back(t.buffer);
  }
  std::set<const tir::BufferNode*> output_buffers;
  for (const Tensor& t : outputs) {
    const Stage* stage = schedule_.Find(t);
    if (stage == nullptr || !output_buffers.insert(t.buffer.get()).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "output ", t.buffer == nullptr ? "(null)" : t.buffer->name,
          stage == nullptr ? " is not computed by the schedule"
                           : " is named twice"));
    }
    func.params.push_back(t.buffer);
  }
  std::vector<Stmt> nests;
  for (const auto& stage : schedule_.stages_) {
    for (const Tensor& t : stage->op().inputs) {
      if (schedule_.Find(t) == nullptr && known.count(t.buffer.get()) == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(stage->op().name, " reads ", t.buffer->name,
                         ", which is not among the inputs"));
      }
    }
    if (stage->IsAttached()) continue;
    for (const Tensor& t : stage->op().outputs) {
      const bool is_output = output_buffers.count(t.buffer.get()) != 0;
      root_places_[t.buffer.get()] =
          Place{is_output ? t.buffer : workspaces_.WholeOf(t), {}, {}};
    }
    if (stage->op().kind == OperationKind::kExtern) {
      nests.push_back(EmitExtern(stage.get()));
      continue;
    }
    std::vector<Side> box;
    for (const Expr& dim : stage->output().shape()) {
      box.push_back({Affine(0), tir::ToAffine(dim)});
    }
    LoopState state(stage.get(), std::move(box), Bounds::Dimensions());
    state.places = root_places_;
    state.target = root_places_[stage->output().buffer.get()];
    nests.push_back(EmitStage(std::move(state)));
    if (!status_.ok()) return status_;
  }
  func.body = tir::MakeSeq(std::move(nests));
  const std::vector<tir::Buffer>& workspaces = workspaces_.all();
  func.num_workspaces = static_cast<int>(workspaces.size());
  func.params.insert(func.params.end(), workspaces.begin(), workspaces.end());
  return func;
}

absl::StatusOr<tir::PrimFunc> Lower(absl::string_view name, const Graph& graph,
                                    absl::Span<const Tensor> inputs,
                                    absl::Span<const Tensor> outputs,
                                    const Schedule& schedule) {
  if (!schedule.status().ok()) return schedule.status();
  Schedule inlined = schedule.Clone();
  inlined.ApplyInlining();
  if (!inlined.status().ok()) return inlined.status();
  return Lowerer(inlined).Run(name, graph, inputs, outputs);
}

}  // namespace ingot::te
