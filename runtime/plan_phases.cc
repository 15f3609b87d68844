// When the parts of a plan are known.
#include <algorithm>
#include <vector>

#include "runtime/plan_check.h"

namespace ingot {
namespace {

// The largest phase of an expression's symbols.
int PhaseOf(const DimExpr& expr, const std::vector<int>& symbols) {
  if (expr.op() == DimExpr::SYMBOL) return symbols[expr.value()];
  int phase = 0;
  for (const DimExpr& operand : expr.operands()) {
    phase = std::max(phase, PhaseOf(operand, symbols));
  }
  return phase;
}

}  // namespace

PlanPhases FindPhases(const Plan& plan) {
  PlanPhases phases;
  phases.symbols.assign(plan.symbols_size(), 0);
  for (const PlanCall& call : plan.calls()) {
    phases.calls.push_back(call.binds_size() > 0 ? phases.count++ : 0);
    for (const PlanBind& bind : call.binds()) {
      phases.symbols[bind.symbol()] = phases.calls.back();
    }
  }
  for (const PlanStorage& storage : plan.storage()) {
    int phase = 0;
    for (const DimExpr& bytes : storage.bytes()) {
      phase = std::max(phase, PhaseOf(bytes, phases.symbols));
    }
    phases.storages.push_back(phase);
  }
  for (const PlanTensor& tensor : plan.tensors()) {
    int phase = tensor.place_case() == PlanTensor::kStorage
                    ? phases.storages[tensor.storage()]
                    : 0;
    for (const DimExpr& dim : tensor.shape()) {
      phase = std::max(phase, PhaseOf(dim, phases.symbols));
    }
    if (tensor.same_bytes_as() > 0) {
      phase = std::max(phase, phases.tensors[tensor.same_bytes_as() - 1]);
    }
    phases.tensors.push_back(phase);
  }
  for (const PlanRequirement& requirement : plan.requirements()) {
    phases.requirements.push_back(
        std::max(PhaseOf(requirement.left(), phases.symbols),
                 PhaseOf(requirement.right(), phases.symbols)));
  }
  return phases;
}

}  // namespace ingot
