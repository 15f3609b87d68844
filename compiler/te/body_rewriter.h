#ifndef INGOT_COMPILER_TE_BODY_REWRITER_H_
#define INGOT_COMPILER_TE_BODY_REWRITER_H_

#include <map>
#include <utility>

#include "compiler/te/loop_state.h"
#include "compiler/te/sharing_mutator.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

// Puts a definition's value where the loops are: axes become values, tensors
// become places, decided conditions go away. Used by lower.cc only.
class BodyRewriter : public SharingMutator {
 public:
  // Stands at the first element that the loops yet to be made compute. `state`
  // must outlive this.
  explicit BodyRewriter(const LoopState& state);

 protected:
  Expr MutateVar(const Expr& e, const tir::Var& node) override;
  Expr MutateLoad(const Expr& e, const tir::Load& node) override;
  Expr MutateSelect(const Expr& e, const tir::Select& node) override;

 private:
  const LoopState& state_;
  std::map<const tir::Var*, Expr> axes_;
};

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_BODY_REWRITER_H_
