#ifndef INGOT_COMPILER_DRIVER_MAIN_CALL_EMITTER_H_
#define INGOT_COMPILER_DRIVER_MAIN_CALL_EMITTER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/driver/main/arena_layout.h"
#include "compiler/driver/main/build_main.h"
#include "compiler/driver/main/plan_scope.h"
#include "compiler/driver/main/statements.h"
#include "compiler/tir/ir.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// Turns the calls of a plan and of its bodies into statements of one function.
class CallEmitter {
 public:
  // `constants` and `arena` are parameters of the function, whose symbolic
  // dimensions are `dims`. `parts` outlives this.
  CallEmitter(const MainParts& parts, tir::Buffer constants, tir::Buffer arena,
              std::vector<const tir::Var*> dims)
      : parts_(parts),
        constants_(std::move(constants)),
        arena_(std::move(arena)),
        dims_(std::move(dims)) {}

  // Appends what a run of the plan does. Its inputs have places, and those of
  // its outputs that are to be elsewhere than in the arena; the symbols of its
  // inputs are set. Afterwards all its tensors have places.
  absl::Status EmitPlan(PlanScope* scope, Statements* out);

  // The tensors that are in the arena so far.
  const ArenaLayout& layout() const { return layout_; }

 private:
  absl::Status PlaceConstants(PlanScope* scope) const;
  absl::Status EmitCall(const PlanCall& call, PlanScope* scope,
                        Statements* out);
  absl::Status EmitFunction(const PlanCall& call, const PlanScope& scope,
                            Statements* out);
  void EmitBindDims(const PlanCall& call, PlanScope* scope, Statements* out);
  absl::Status EmitBranch(const PlanCall& call, PlanScope* scope,
                          Statements* out);
  absl::Status EmitLoop(const PlanCall& call, PlanScope* scope,
                        Statements* out);

  // Makes the tensors `args` of `outer` inputs of `body`, from its input
  // `first` on: their dimensions its symbols, their places its places.
  absl::Status PassInputs(const PlanScope& outer,
                          const std::vector<uint32_t>& args, size_t first,
                          PlanScope* body, Statements* out) const;
  // The shapes of a body's outputs, from output `first` on. Unimplemented where
  // they are known only while the body runs.
  using Shapes = std::vector<std::vector<tir::Expr>>;
  absl::StatusOr<Shapes> ResultShapes(const PlanScope& body, size_t first,
                                      size_t count) const;
  // Copies what an iteration of `body` gave to where the next one reads it: the
  // `slots`, each as large as its tensor of `args`.
  absl::Status CarryResults(const PlanCall& call, const PlanScope& scope,
                            const std::vector<uint32_t>& args,
                            const PlanScope& body, const Shapes& shapes,
                            const std::vector<Place>& slots, Statements* out);
  // Sets the symbols that `call` binds to the dimensions of its results, which
  // have these shapes.
  absl::Status BindToResults(const PlanCall& call, const Shapes& shapes,
                             PlanScope* scope, Statements* out);

  // Copies a result of a branch or a loop to the tensor `t`, unless it is
  // there.
  static void CopyResult(const Place& from, const PlanScope& scope, uint32_t t,
                         Statements* out);

  const MainParts& parts_;
  const tir::Buffer constants_, arena_;
  const std::vector<const tir::Var*> dims_;
  ArenaLayout layout_;
};

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_MAIN_CALL_EMITTER_H_
