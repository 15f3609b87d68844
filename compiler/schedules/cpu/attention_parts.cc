#include "compiler/schedules/cpu/attention_parts.h"

#include <utility>

#include "compiler/schedules/stage_facts.h"
#include "compiler/te/tags.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::te::cpu {
namespace {

using tir::As;
using tir::BinaryOp;

// Puts a definition at a point.
class Placer final : public tir::ExprMutator {
 public:
  Placer(std::map<const tir::Var*, Expr> axes, const Elements& elements)
      : axes_(std::move(axes)) {
    for (const auto& [stage, element] : elements) {
      elements_[stage->output().buffer.get()] = element;
    }
  }

 protected:
  Expr MutateVar(const Expr& e, const tir::Var& node) override {
    const auto it = axes_.find(&node);
    return it == axes_.end() ? e : it->second;
  }
  Expr MutateLoad(const Expr& e, const tir::Load& node) override {
    const auto it = elements_.find(node.buffer.get());
    return it == elements_.end() ? tir::ExprMutator::MutateLoad(e, node)
                                 : it->second;
  }

 private:
  const std::map<const tir::Var*, Expr> axes_;
  std::map<const tir::BufferNode*, Expr> elements_;
};

// The operands of an And of any depth, in order.
void AddConjuncts(const Expr& e, std::vector<Expr>* all) {
  const auto* node = As<tir::Binary>(e);
  if (node == nullptr || node->op != BinaryOp::kAnd) {
    all->push_back(e);
    return;
  }
  AddConjuncts(node->a, all);
  AddConjuncts(node->b, all);
}

// Whether the i64 expression is known not to fall as `axis` grows.
bool NeverFalls(const Expr& e, const tir::VarPtr& axis) {
  tir::Affine rest = tir::ToAffine(e);
  const int64_t slope = rest.CoefficientOf(axis.get());
  rest.Add(tir::Affine::Atom(axis), -slope);
  return slope >= 0 && !tir::Uses(rest.ToExpr(), axis.get());
}

}  // namespace

std::optional<AttentionStages> FindAttention(const Schedule& schedule,
                                             const Stage& product) {
  if (TagOf(&product, kAttention) != kAttentionProduct) return std::nullopt;
  std::map<absl::string_view, Stage*> roles;
  for (Stage* stage : schedule.stages()) {
    const absl::string_view role = TagOf(stage, kAttention);
    if (role.empty()) continue;
    const bool first = roles.emplace(role, stage).second;
    const bool inside = !stage->is_output() || role == kAttentionResult;
    if (!first || !inside || !stage->IsUntouched()) {
      return std::nullopt;
    }
  }
  constexpr size_t kRoles = 9;
  if (roles.size() != kRoles) return std::nullopt;
  return AttentionStages{roles[kAttentionScaled], roles[kAttentionProduct],
                         roles[kAttentionScores], roles[kAttentionMax],
                         roles[kAttentionTop],    roles[kAttentionExp],
                         roles[kAttentionSum],    roles[kAttentionValues],
                         roles[kAttentionResult]};
}

ScoreParts::ScoreParts(const Operation& scores) {
  const auto* select = As<tir::Select>(scores.value);
  value = select == nullptr ? scores.value : select->on_true;
  if (select == nullptr) return;
  const size_t rank = scores.axis.size();
  const tir::VarPtr &key = scores.axis[rank - 1],
                    &query = scores.axis[rank - 2];
  std::vector<Expr> all;
  AddConjuncts(select->condition, &all);
  for (const Expr& condition : all) {
    const auto* c = As<tir::Binary>(condition);
    const bool is_place = c != nullptr && c->a == Expr(key) &&
                          !tir::Uses(c->b, key.get()) &&
                          NeverFalls(c->b, query);
    if (is_place && c->op == BinaryOp::kGe) {
      lower.push_back(c->b);
    } else if (is_place && c->op == BinaryOp::kLe) {
      upper.push_back(c->b);
    } else if (is_place && c->op == BinaryOp::kLt) {
      upper.push_back(c->b - 1);
    } else {
      other.push_back(condition);
      continue;
    }
    by_place.push_back(condition);
  }
}

Expr PartAt(const Stage& stage, const Expr& value, const Indices& at,
            const Elements& elements) {
  const Operation& op = stage.op();
  std::map<const tir::Var*, Expr> axes;
  for (size_t i = 0; i < at.size(); ++i) {
    const size_t axis = op.axis.size();
    axes[i < axis ? op.axis[i].get() : op.reduce_axis[i - axis].get()] = at[i];
  }
  return Placer(std::move(axes), elements).Mutate(value);
}

Expr ValueAt(const Stage& stage, const Indices& at, const Elements& elements) {
  return PartAt(stage, stage.op().value, at, elements);
}

}  // namespace ingot::te::cpu
