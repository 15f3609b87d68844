#include "runtime/plan/phases.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

// Adds a phase for each call that binds symbols; the phase of each symbol.
std::vector<uint32_t> AddPhases(Plan* plan) {
  std::vector<uint32_t> phase_of(plan->symbols_size(), 0);
  plan->clear_phases();
  plan->add_phases();
  for (int i = 0; i < plan->calls_size(); ++i) {
    if (plan->calls(i).binds_size() == 0) continue;
    const auto index = static_cast<uint32_t>(plan->phases_size());
    PlanPhase* phase = plan->add_phases();
    phase->set_first_call(static_cast<uint32_t>(i) + 1);
    for (const PlanBind& bind : plan->calls(i).binds()) {
      phase->add_symbols(bind.symbol());
      phase_of[bind.symbol()] = index;
    }
  }
  for (size_t i = 0; i < phase_of.size(); ++i) {
    const PlanSymbol& symbol = plan->symbols(static_cast<int>(i));
    if (symbol.has_value()) {
      phase_of[i] = PhaseOf(symbol.value(), phase_of);
    } else if (phase_of[i] == 0) {
      plan->mutable_phases(0)->add_symbols(static_cast<uint32_t>(i));
    }
  }
  return phase_of;
}

}  // namespace

void AssignPhases(Plan* plan) {
  const std::vector<uint32_t> symbols = AddPhases(plan);
  for (PlanStorage& storage : *plan->mutable_storage()) {
    uint32_t phase = 0;
    for (const DimExpr& bytes : storage.bytes()) {
      phase = std::max(phase, PhaseOf(bytes, symbols));
    }
    storage.set_phase(phase);
  }
  for (PlanTensor& tensor : *plan->mutable_tensors()) {
    uint32_t phase = 0;
    if (tensor.has_storage()) {
      phase = plan->storage(static_cast<int>(tensor.storage())).phase();
    } else if (const std::optional<uint32_t> viewed = ViewedBy(tensor)) {
      phase = plan->tensors(static_cast<int>(*viewed)).phase();
    }
    for (const DimExpr& dim : PlanTypeOf(*plan, tensor).shape()) {
      phase = std::max(phase, PhaseOf(dim, symbols));
    }
    tensor.set_phase(phase);
  }
  for (PlanRequirement& requirement : *plan->mutable_requirements()) {
    requirement.set_phase(std::max(PhaseOf(requirement.left(), symbols),
                                   PhaseOf(requirement.right(), symbols)));
  }
}

}  // namespace ingot
