#include "compiler/te/body_rewriter.h"

#include <optional>
#include <vector>

namespace ingot::te {

Expr BodyRewriter::MutateVar(const Expr& e, const tir::Var& node) {
  auto it = axes_.find(&node);
  return it == axes_.end() ? e : it->second;
}

Expr BodyRewriter::MutateLoad(const Expr& e, const tir::Load& node) {
  std::vector<Expr> indices;
  auto it = state_.places.find(node.buffer.get());
  for (size_t i = 0; i < node.indices.size(); ++i) {
    Affine index = state_.bounds.ToAffine(Mutate(node.indices[i]));
    if (it != state_.places.end() && !it->second.origin.empty()) {
      index = index - it->second.origin[i];
    }
    indices.push_back(index.ToExpr());
  }
  return tir::MakeLoad(
      it == state_.places.end() ? node.buffer : it->second.buffer,
      std::move(indices));
}

Expr BodyRewriter::MutateSelect(const Expr& e, const tir::Select& node) {
  Expr condition = Mutate(node.condition);
  if (const std::optional<bool> decided = state_.bounds.Decide(condition)) {
    return Mutate(*decided ? node.on_true : node.on_false);
  }
  return tir::MakeSelect(condition, Mutate(node.on_true),
                         Mutate(node.on_false));
}

}  // namespace ingot::te
