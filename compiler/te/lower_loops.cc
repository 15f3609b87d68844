// The loops of a stage: whole tiles and what they leave over, the parts of an
// axis that conditions cut, and reduce loops without what adds zeros.
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/te/boxes.h"
#include "compiler/te/lowerer.h"
#include "compiler/te/zeros.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::te {

using tir::ForKind;
using tir::Stmt;

namespace {

// The first one outermost.
Stmt WithLets(const Lets& lets, Stmt body) {
  for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
    body = tir::MakeLet(it->first, it->second, body);
  }
  return body;
}

// Threads that share so few tiles would wait for the one that makes what they
// leave over.
constexpr int64_t kFewTiles = 16;

}  // namespace

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
    if (state.IsBound(loop.id)) lets = state.NameFused(loop.id);
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
  const int split = stage->loops_[stage->LeadOf(loop.id)].parent;
  const bool is_outer =
      split >= 0 && stage->relations_[split].outer == stage->LeadOf(loop.id);
  if (!is_outer || state.TailOf(split) != Tail::kPartition) {
    return EmitOneLoop(state, loop, Affine(0), state.Extent(loop.id), plain,
                       body);
  }
  return EmitPartition(std::move(state), loop, body);
}

// Gives a loop that was split off so many whole tiles: nothing that is asked of
// the state later sees the tail.
void Lowerer::SetWholeTiles(LoopState* state, int outer, const Affine& count) {
  const auto& r = state->stage->relations_[state->stage->loops_[outer].parent];
  state->SetExtent(outer, count);
  state->SetExtent(r.whole, count * r.factor);
}

// Gives it the tile after so many, which has `left` elements.
void Lowerer::SetTail(LoopState* state, int outer, const Affine& tiles,
                      const Affine& left) {
  const int split = state->stage->loops_[outer].parent;
  const auto& r = state->stage->relations_[split];
  state->SetExtent(outer, Affine(1));
  state->SetExtent(r.inner, left);
  state->SetBase(split, tiles * r.factor);
}

Stmt Lowerer::EmitTailInTurn(LoopState state, Loop loop, int64_t tiles,
                             const Affine& left, const BodyFn& body) {
  const int lead = state.stage->LeadOf(loop.id);
  const Affine all = state.Extent(loop.id);
  Affine turn;
  const auto remember = [&](LoopState*, Affine value) { turn = value; };
  const auto both = [&](const LoopState& inside) {
    LoopState main = inside;
    SetWholeTiles(&main, lead, Affine(tiles));
    const Affine whole = main.Extent(loop.id);
    main.bounds.Set(SingleVar(turn), Affine(0), whole - Affine(1));
    main.Bind(loop.id, turn);
    const Lets of_main = main.NameFused(loop.id);
    LoopState tail = inside;
    SetTail(&tail, lead, Affine(tiles), left);
    tail.bounds.Set(SingleVar(turn), whole, all - Affine(1));
    tail.Bind(loop.id, lead == loop.id ? Affine(tiles) : turn - whole);
    const Lets of_tail = tail.NameFused(loop.id);
    return tir::MakeIf(tir::Lt(turn.ToExpr(), whole.ToExpr()),
                       WithLets(of_main, body(std::move(main))),
                       WithLets(of_tail, body(std::move(tail))));
  };
  return EmitOneLoop(std::move(state), loop, Affine(0), all, remember, both);
}

// The outer loop of a split, or one that it leads: whole tiles, then what they
// leave over.
Stmt Lowerer::EmitPartition(LoopState state, Loop loop, const BodyFn& body) {
  const int lead = state.stage->LeadOf(loop.id);
  const int parent = state.stage->loops_[lead].parent;
  const auto& r = state.stage->relations_[parent];
  const Affine whole = state.Extent(r.whole);
  const auto plain = [loop](LoopState* s, Affine value) {
    s->Bind(loop.id, std::move(value));
  };
  const auto whole_tiles = [&](const Affine& count) {
    LoopState main = state;
    SetWholeTiles(&main, lead, count);
    return EmitOneLoop(main, loop, Affine(0), main.Extent(loop.id), plain,
                       body);
  };
  const Affine most =
      state.bounds.ToAffine(whole.ToExpr() / tir::MakeInt(r.factor));
  if (const Affine left = whole - most * r.factor; left.AsConst()) {
    if (const auto tiles = most.AsConst();
        tiles && *tiles > 0 && *tiles < kFewTiles && state.IsShared(loop.id)) {
      return EmitTailInTurn(std::move(state), loop, *tiles, left, body);
    }
    Stmt main_loop = whole_tiles(most);
    LoopState tail = state;
    SetTail(&tail, lead, most, left);
    if (lead != loop.id) {
      return tir::MakeSeq(
          {main_loop, EmitOneLoop(tail, loop, Affine(0), tail.Extent(loop.id),
                                  plain, body)});
    }
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

}  // namespace ingot::te
