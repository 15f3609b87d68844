#include "compiler/te/lower.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/te/body_rewriter.h"
#include "compiler/te/boxes.h"
#include "compiler/te/loop_state.h"
#include "compiler/te/lowerer.h"
#include "compiler/te/prefetches.h"
#include "compiler/te/workspaces.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {

using tir::Stmt;

namespace {

// Puts the buffers of an extern body in their places.
class BufferRenamer : public tir::StmtMutator {
 public:
  void Rename(const tir::Buffer& from, const tir::Buffer& to) {
    ReplaceBuffer(from, to);
  }
};

}  // namespace

Expr AllOf(const std::vector<Expr>& conditions) {
  Expr all = conditions[0];
  for (size_t i = 1; i < conditions.size(); ++i) {
    all = tir::And(all, conditions[i]);
  }
  return all;
}

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
