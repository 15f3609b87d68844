#include "runtime/plan/check_phases.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

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
    constexpr int kNone = -1;
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
        phases_[symbol] = p;
      }
    }
    for (size_t i = 0; i < phases_.size(); ++i) {
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
      for (const DimExpr& dim : input.shape()) {
        if (dim.op() == DimExpr::SYMBOL) given[dim.value()] = true;
      }
    }
    for (size_t i = 0; i < phases_.size(); ++i) {
      if (phases_[i] == 0 && !given[i]) {
        return Bad("symbol '", Name(i), "' is not a dimension of any input");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckStorage() {
    for (int i = 0; i < plan_.storage_size(); ++i) {
      const PlanStorage& storage = plan_.storage(i);
      const std::string what = absl::StrCat("storage ", i);
      INGOT_RETURN_IF_ERROR(CheckPhase(what, storage.phase()));
      for (const DimExpr& bytes : storage.bytes()) {
        INGOT_RETURN_IF_ERROR(CheckBound(what, bytes, storage.phase()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckTensors() {
    for (const PlanTensor& tensor : plan_.tensors()) {
      const std::string what = absl::StrCat("tensor '", tensor.name(), "'");
      INGOT_RETURN_IF_ERROR(CheckPhase(what, tensor.phase()));
      for (const DimExpr& dim : tensor.shape()) {
        INGOT_RETURN_IF_ERROR(CheckBound(what, dim, tensor.phase()));
      }
      uint32_t place = 0;
      if (tensor.has_storage()) {
        place = plan_.storage(static_cast<int>(tensor.storage())).phase();
      } else if (tensor.has_view_of()) {
        place = plan_.tensors(static_cast<int>(tensor.view_of())).phase();
      }
      if (tensor.phase() < place) {
        return Bad(what, " is said to be known in phase ", tensor.phase(),
                   ", its place is in phase ", place);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckRequirements() {
    for (const PlanRequirement& requirement : plan_.requirements()) {
      const std::string what =
          absl::StrCat("a requirement of ", requirement.source());
      INGOT_RETURN_IF_ERROR(CheckPhase(what, requirement.phase()));
      for (const DimExpr* dim : {&requirement.left(), &requirement.right()}) {
        INGOT_RETURN_IF_ERROR(CheckBound(what, *dim, requirement.phase()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckPhase(const std::string& what, uint32_t phase) const {
    if (phase < static_cast<uint32_t>(plan_.phases_size())) {
      return absl::OkStatus();
    }
    return Bad(what, " is known in phase ", phase, " of ", plan_.phases_size());
  }

  // Checks that an expression has a value in a phase.
  absl::Status CheckBound(const std::string& what, const DimExpr& expr,
                          uint32_t phase) const {
    if (expr.op() == DimExpr::SYMBOL &&
        static_cast<uint32_t>(phases_[expr.value()]) > phase) {
      return Bad(what, " is said to be known in phase ", phase,
                 ", but needs the symbol '", Name(expr.value()), "' of phase ",
                 phases_[expr.value()]);
    }
    for (const DimExpr& operand : expr.operands()) {
      INGOT_RETURN_IF_ERROR(CheckBound(what, operand, phase));
    }
    return absl::OkStatus();
  }

  const std::string& Name(int64_t symbol) const {
    return plan_.symbols(static_cast<int>(symbol)).name();
  }

  const Plan& plan_;
  std::vector<int> phases_;  // of symbols
};

}  // namespace

absl::Status CheckPhases(const Plan& plan) {
  return PhaseChecker(plan).Check();
}

}  // namespace ingot
