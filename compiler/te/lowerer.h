// Emits the loops of a schedule. Used by lower.cc, which emits stages, and
// lower_loops.cc, which emits one loop around a body.
#ifndef INGOT_COMPILER_TE_LOWERER_H_
#define INGOT_COMPILER_TE_LOWERER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/te/loop_state.h"
#include "compiler/te/schedule.h"
#include "compiler/te/te.h"
#include "compiler/te/workspaces.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

// All of the conditions, of which there is one at least.
Expr AllOf(const std::vector<Expr>& conditions);

class Lowerer {
 public:
  explicit Lowerer(const Schedule& schedule) : schedule_(schedule) {}

  absl::StatusOr<tir::PrimFunc> Run(absl::string_view name, const Graph& graph,
                                    absl::Span<const Tensor> inputs,
                                    absl::Span<const Tensor> outputs);

 private:
  // Makes the loops around what `body` makes.
  using Stmt = tir::Stmt;
  using BodyFn = std::function<Stmt(LoopState)>;

  Stmt EmitStage(LoopState state);
  Stmt EmitExtern(const Stage* stage);
  Stmt EmitFrom(LoopState state, size_t leaf);
  Stmt EmitLoop(LoopState state, Loop loop, const BodyFn& body);
  static void SetWholeTiles(LoopState* state, int outer, const Affine& count);
  static void SetTail(LoopState* state, int outer, const Affine& tiles,
                      const Affine& left);
  Stmt EmitPartition(LoopState state, Loop loop, const BodyFn& body);
  // Whole tiles, and `left` elements as one more iteration of the same loop.
  Stmt EmitTailInTurn(LoopState state, Loop loop, int64_t tiles,
                      const Affine& left, const BodyFn& body);
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

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_LOWERER_H_
