#include "compiler/te/zeros.h"

#include <algorithm>
#include <optional>

#include "compiler/tir/arith/interval.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::te {
namespace {

using tir::As;
using tir::Binary;
using tir::BinaryOp;

bool IsZero(const Expr& e) {
  if (const auto* imm = As<tir::FloatImm>(e)) return imm->value == 0;
  return tir::IsConstInt(e, 0);
}

// Adds what is at least 0 wherever `condition` holds.
void AddConditions(const Expr& condition, std::vector<Affine>* found) {
  const auto* node = As<Binary>(condition);
  if (node == nullptr) return;
  if (node->op == BinaryOp::kAnd) {
    AddConditions(node->a, found);
    AddConditions(node->b, found);
    return;
  }
  if (node->a->dtype != DataType::Int(64)) return;
  const Affine difference = tir::ToAffine(node->a) - tir::ToAffine(node->b);
  switch (node->op) {
    case BinaryOp::kGe:
      return found->push_back(difference);
    case BinaryOp::kGt:
      return found->push_back(difference - Affine(1));
    case BinaryOp::kLe:
      return found->push_back(difference * -1);
    case BinaryOp::kLt:
      return found->push_back(difference * -1 - Affine(1));
    default:
      return;
  }
}

// Adds what is at least 0 wherever `term` is not 0.
void AddConditionsOfTerm(const Expr& term, std::vector<Affine>* found) {
  if (const auto* cast = As<tir::Cast>(term)) {
    AddConditionsOfTerm(cast->value, found);
  } else if (const auto* select = As<tir::Select>(term)) {
    if (!IsZero(select->on_false)) return;
    AddConditions(select->condition, found);
    AddConditionsOfTerm(select->on_true, found);
  } else if (const auto* node = As<Binary>(term);
             node != nullptr && node->op == BinaryOp::kMul) {
    AddConditionsOfTerm(node->a, found);
    AddConditionsOfTerm(node->b, found);
  }
}

// Calls `visit` with the coefficient of the reduce axis in each of what is at
// least 0 wherever a term is not, and the side of the rest.
template <typename Fn>
void ForEachCondition(const LoopState& state, int reduce_axis, Fn visit) {
  const Operation& op = state.stage->op();
  if (!op.reducer.is_sum) return;
  std::vector<Affine> conditions;
  AddConditionsOfTerm(op.value, &conditions);
  Box box;
  for (size_t i = 0; i < op.axis.size(); ++i) {
    box[op.axis[i].get()] = state.AxisRange(i);
  }
  for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
    box[op.reduce_axis[i].get()] = state.ReduceRange(i);
  }
  const tir::VarPtr& var = op.reduce_axis[reduce_axis];
  for (Affine rest : conditions) {
    const int64_t k = rest.CoefficientOf(var.get());
    if (k == 0) continue;
    rest.Add(Affine::Atom(var), -k);
    if (const auto side = SideOf(rest.ToExpr(), box, state.bounds)) {
      visit(k, *side);
    }
  }
}

}  // namespace

Side IterationsWithTerms(const LoopState& state, int reduce_axis) {
  const Side whole = state.ReduceRange(reduce_axis);
  const auto extent = whole.extent.AsConst();
  if (!extent) return whole;
  int64_t begin = 0, end = *extent;
  ForEachCondition(state, reduce_axis, [&](int64_t k, const Side& rest) {
    // k * iteration + rest >= 0 for some of the rest.
    const auto most = tir::ConstUpperBound(
        (rest.min + rest.extent - Affine(1)).ToExpr(), &state.bounds);
    if (!most) return;
    if (k > 0) {
      begin = std::max(begin, -tir::FloorDivInt(*most, k));
    } else {
      end = std::min(end, tir::FloorDivInt(*most, -k) + 1);
    }
  });
  return {Affine(begin), Affine(std::max<int64_t>(0, end - begin))};
}

TermConditions ConditionsOfTerms(const LoopState& state, int reduce_axis) {
  const Affine at = state.ReduceRange(reduce_axis).min;
  TermConditions conditions;
  const auto add = [&](const Affine& value, std::vector<Expr>* to) {
    if (!state.bounds.ProveNonNegative(value)) {
      to->push_back(tir::Ge(value.ToExpr(), tir::MakeInt(0)));
    }
  };
  ForEachCondition(state, reduce_axis, [&](int64_t k, const Side& rest) {
    const std::optional<int64_t> extent = rest.extent.AsConst();
    if (rest.inexact || !extent) return;
    const Affine least = at * k + rest.min;
    if (*extent == 1) {
      add(least, &conditions.some);
    } else if (state.HasNeighbours()) {
      add(least + Affine(*extent - 1), &conditions.some);
      add(least, &conditions.all);
    }
  });
  return conditions;
}

}  // namespace ingot::te
