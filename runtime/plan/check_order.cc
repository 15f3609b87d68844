#include "runtime/plan/check_order.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("plan: ", parts...));
}

class OrderChecker {
 public:
  explicit OrderChecker(const Plan& plan)
      : plan_(plan),
        roots_(RootsOf(plan)),
        written_(plan.storage_size(), false),
        made_(plan.tensors_size(), false),
        replaced_(plan.tensors_size(), false) {}

  absl::Status Check() {
    for (int i = 0; i < plan_.calls_size(); ++i) {
      absl::Status status = CheckCall(plan_.calls(i));
      if (!status.ok()) {
        return Bad("call ", i, " (", plan_.calls(i).function(),
                   "): ", status.message());
      }
    }
    for (int i = 0; i < plan_.outputs_size(); ++i) {
      const uint32_t t = plan_.outputs(i);
      if (!IsWritten(t)) {
        return Bad("output ", i, ", '", Name(t), "', is written by no call");
      }
      if (replaced_[roots_[t]]) {
        return Bad("output ", i, ", '", Name(t), "', was updated in place");
      }
    }
    return absl::OkStatus();
  }

 private:
  template <typename... Parts>
  static absl::Status Wrong(const Parts&... parts) {
    return absl::InvalidArgumentError(absl::StrCat(parts...));
  }

  absl::Status CheckCall(const PlanCall& call) {
    const int reads = call.args_size() - static_cast<int>(call.num_outputs());
    const uint32_t phase_after = phase_ + (call.binds_size() > 0 ? 1 : 0);
    for (int k = 0; k < call.args_size(); ++k) {
      const uint32_t t = call.args(k);
      if (Tensor(t).phase() > (k < reads ? phase_ : phase_after)) {
        return Wrong("a dimension of '", Name(t), "' is not bound by then");
      }
      INGOT_RETURN_IF_ERROR(k < reads ? CheckRead(t) : CheckWrite(call, t));
    }
    for (const PlanInPlace& pair : call.in_place()) {
      replaced_[roots_[call.args(static_cast<int>(pair.operand()))]] = true;
    }
    for (int k = reads; k < call.args_size(); ++k) {
      const uint32_t t = call.args(k);
      made_[t] = true;
      replaced_[t] = false;
      const PlanTensor& root = Tensor(roots_[t]);
      if (root.has_storage()) written_[root.storage()] = true;
    }
    phase_ = phase_after;
    return absl::OkStatus();
  }

  absl::Status CheckRead(uint32_t t) const {
    if (!IsWritten(t)) {
      return Wrong("it reads '", Name(t), "' before any call wrote it");
    }
    if (replaced_[roots_[t]]) {
      return Wrong("it reads '", Name(t), "', which was updated in place");
    }
    return absl::OkStatus();
  }

  absl::Status CheckWrite(const PlanCall& call, uint32_t t) const {
    const PlanTensor& tensor = Tensor(t);
    if (tensor.has_state() && call.has_function()) {
      int uses = 0;
      for (uint32_t arg : call.args()) uses += roots_[arg] == t ? 1 : 0;
      if (uses == 1) return absl::OkStatus();
      return Wrong("it writes the state '", Name(t), "' and uses it again");
    }
    if (tensor.has_part_of() && call.has_function() &&
        Tensor(roots_[t]).has_storage()) {
      return absl::OkStatus();
    }
    if (tensor.place_case() == (tensor.is_sequence() ? PlanTensor::PLACE_NOT_SET
                                                     : PlanTensor::kStorage)) {
      return absl::OkStatus();
    }
    return Wrong("it writes '", Name(t), "', which is not in storage");
  }

  bool IsWritten(uint32_t t) const {
    const PlanTensor& root = Tensor(roots_[t]);
    if (root.place_case() == PlanTensor::PLACE_NOT_SET) return made_[t];
    return !root.has_storage() || written_[root.storage()];
  }

  const PlanTensor& Tensor(uint32_t t) const {
    return plan_.tensors(static_cast<int>(t));
  }
  const std::string& Name(uint32_t t) const { return Tensor(t).name(); }

  const Plan& plan_;
  const std::vector<uint32_t> roots_;
  std::vector<bool> written_;   // storage
  std::vector<bool> made_;      // tensors and sequences, by calls
  std::vector<bool> replaced_;  // roots whose place another value has taken
  uint32_t phase_ = 0;
};

}  // namespace

absl::Status CheckOrder(const Plan& plan) { return OrderChecker(plan).Check(); }

}  // namespace ingot
