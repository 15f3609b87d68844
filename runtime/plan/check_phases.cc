#include "runtime/plan/check_phases.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("plan: ", parts...));
}

class PhaseChecker {
 public:
  explicit PhaseChecker(const Plan& plan) : plan_(plan) {}

  absl::Status Check() {
    absl::Status status = CheckCalls();
    if (status.ok()) status = CheckSymbols();
    if (status.ok()) status = CheckInputs();
    if (status.ok()) status = CheckStorage();
    if (status.ok()) status = CheckTensors();
    if (status.ok()) status = CheckRequirements();
    return status;
  }

 private:
  // Phases and the calls that begin them.
  absl::Status CheckCalls() {
    if (plan_.phases_size() == 0) return Bad("it has no phases");
    if (plan_.phases(0).first_call() != 0) {
      return Bad("phase 0 begins with call ", plan_.phases(0).first_call());
    }
    int next = 1;
    for (int i = 0; i < plan_.calls_size(); ++i) {
      const PlanCall& call = plan_.calls(i);
      if (call.binds_size() == 0) continue;
      if (next == plan_.phases_size()) {
        return Bad("no phase begins after call ", i, ", which binds symbols");
      }
      const PlanPhase& phase = plan_.phases(next);
      if (phase.first_call() != static_cast<uint32_t>(i) + 1) {
        return Bad("phase ", next, " begins with call ", phase.first_call(),
                   ", but call ", i, " binds symbols");
      }
      bool same = phase.symbols_size() == call.binds_size();
      for (int k = 0; same && k < call.binds_size(); ++k) {
        same = phase.symbols(k) == call.binds(k).symbol();
      }
      if (!same) {
        return Bad("phase ", next, " binds other symbols than call ", i,
                   " before it");
      }
      ++next;
    }
    if (next == plan_.phases_size()) return absl::OkStatus();
    return Bad("no call before phase ", next, " binds symbols");
  }

  absl::Status CheckSymbols() {
    constexpr uint32_t kNone = UINT32_MAX;
    phases_.assign(plan_.symbols_size(), kNone);
    for (int p = 0; p < plan_.phases_size(); ++p) {
      for (uint32_t symbol : plan_.phases(p).symbols()) {
        if (symbol >= phases_.size()) {
          return Bad("phase ", p, " binds symbol ", symbol, " of ",
                     phases_.size());
        }
        if (phases_[symbol] != kNone) {
          return Bad("symbol '", Name(symbol), "' is bound twice");
        }
        phases_[symbol] = static_cast<uint32_t>(p);
      }
    }
    for (size_t i = 0; i < phases_.size(); ++i) {
      const PlanSymbol& symbol = plan_.symbols(static_cast<int>(i));
      if (symbol.has_value()) {
        if (phases_[i] != kNone) {
          return Bad("symbol '", Name(i), "' has a value and is bound");
        }
        phases_[i] = PhaseOf(symbol.value(), phases_);
      }
      if (phases_[i] == kNone) {
        return Bad("symbol '", Name(i), "' is bound in no phase");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckInputs() {
    std::vector<bool> given(phases_.size(), false);
    for (int i = 0; i < plan_.inputs_size(); ++i) {
      const PlanTensor& input =
          plan_.tensors(static_cast<int>(plan_.inputs(i)));
      if (input.phase() != 0) {
        return Bad("input ", i, " is known in phase ", input.phase(), " only");
      }
      for (const DimExpr& dim : PlanTypeOf(plan_, input).shape()) {
        if (dim.op() != DimExpr::SYMBOL) continue;
        given[dim.value()] = true;
        if (plan_.symbols(static_cast<int>(dim.value())).has_value()) {
          return Bad("input ", i, " has the dimension '", Name(dim.value()),
                     "', which follows from others");
        }
      }
    }
    for (size_t i = 0; i < phases_.size(); ++i) {
      if (phases_[i] == 0 && !given[i] &&
          !plan_.symbols(static_cast<int>(i)).has_value()) {
        return Bad("symbol '", Name(i), "' is not a dimension of any input");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckStorage() {
    for (int i = 0; i < plan_.storage_size(); ++i) {
      const PlanStorage& storage = plan_.storage(i);
      const absl::Status status = CheckKnown(storage.bytes(), storage.phase());
      if (!status.ok()) return Bad("storage ", i, status.message());
    }
    return absl::OkStatus();
  }

  absl::Status CheckTensors() {
    for (const PlanTensor& tensor : plan_.tensors()) {
      const absl::Status status =
          CheckKnown(PlanTypeOf(plan_, tensor).shape(), tensor.phase());
      if (!status.ok()) {
        return Bad("tensor '", tensor.name(), "'", status.message());
      }
      uint32_t place = 0;
      if (tensor.has_storage()) {
        place = plan_.storage(static_cast<int>(tensor.storage())).phase();
      } else if (const std::optional<uint32_t> viewed = ViewedBy(tensor)) {
        place = plan_.tensors(static_cast<int>(*viewed)).phase();
      }
      if (tensor.phase() < place) {
        return Bad("tensor '", tensor.name(), "' is said to be known in phase ",
                   tensor.phase(), ", its place is in phase ", place);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckRequirements() {
    for (const PlanRequirement& requirement : plan_.requirements()) {
      absl::Status status = CheckPhase(requirement.phase());
      for (const DimExpr* dim : {&requirement.left(), &requirement.right()}) {
        if (status.ok()) status = CheckBound(*dim, requirement.phase());
      }
      if (!status.ok()) {
        return Bad("a requirement of ", requirement.source(), status.message());
      }
    }
    return absl::OkStatus();
  }

  // Errors of this and the next two are the rest of a sentence that begins with
  // what is known in the phase.
  absl::Status CheckPhase(uint32_t phase) const {
    if (phase < static_cast<uint32_t>(plan_.phases_size())) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        " is known in phase ", phase, " of ", plan_.phases_size()));
  }

  // Checks that an expression has a value in a phase.
  absl::Status CheckBound(const DimExpr& expr, uint32_t phase) const {
    if (expr.op() == DimExpr::SYMBOL && phases_[expr.value()] > phase) {
      return absl::InvalidArgumentError(absl::StrCat(
          " is said to be known in phase ", phase, ", but needs the symbol '",
          Name(expr.value()), "' of phase ", phases_[expr.value()]));
    }
    for (const DimExpr& operand : expr.operands()) {
      INGOT_RETURN_IF_ERROR(CheckBound(operand, phase));
    }
    return absl::OkStatus();
  }

  absl::Status CheckKnown(
      const google::protobuf::RepeatedPtrField<DimExpr>& dims,
      uint32_t phase) const {
    INGOT_RETURN_IF_ERROR(CheckPhase(phase));
    // The only one binds all symbols.
    if (plan_.phases_size() == 1) return absl::OkStatus();
    for (const DimExpr& dim : dims) {
      INGOT_RETURN_IF_ERROR(CheckBound(dim, phase));
    }
    return absl::OkStatus();
  }

  const std::string& Name(int64_t symbol) const {
    return plan_.symbols(static_cast<int>(symbol)).name();
  }

  const Plan& plan_;
  std::vector<uint32_t> phases_;  // of symbols
};

}  // namespace

absl::Status CheckPhases(const Plan& plan) {
  return PhaseChecker(plan).Check();
}

}  // namespace ingot
