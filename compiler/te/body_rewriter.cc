#include "compiler/te/body_rewriter.h"

#include <optional>
#include <vector>

namespace ingot::te {

BodyRewriter::BodyRewriter(const LoopState& state) : state_(state) {
  const Operation& op = state.stage->op();
  for (size_t i = 0; i < op.axis.size(); ++i) {
    axes_[op.axis[i].get()] = state.AxisRange(i).min.ToExpr();
  }
  for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
    axes_[op.reduce_axis[i].get()] = state.ReduceRange(i).min.ToExpr();
  }
}

Expr BodyRewriter::MutateVar(const Expr& e, const tir::Var& node) {
  auto it = axes_.find(&node);
  return it == axes_.end() ? e : it->second;
}

Expr BodyRewriter::MutateLoad(const Expr& e, const tir::Load& node) {
  std::vector<Affine> element;
  for (const Expr& index : node.indices) {
    element.push_back(state_.bounds.ToAffine(Mutate(index)));
  }
  const auto it = state_.places.find(node.buffer.get());
  const Place place =
      it == state_.places.end() ? Place{node.buffer, {}, {}} : it->second;
  return tir::MakeLoad(place.buffer,
                       place.At(std::move(element), state_.bounds));
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
