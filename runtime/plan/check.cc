#include "runtime/plan/check.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/annotate.h"
#include "runtime/data_type.h"
#include "runtime/plan/check_calls.h"
#include "runtime/plan/check_devices.h"
#include "runtime/plan/check_in_place.h"
#include "runtime/plan/check_order.h"
#include "runtime/plan/check_phases.h"
#include "runtime/plan/check_tensors.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {
namespace {

constexpr int kMaxDepth = 32;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("plan: ", parts...));
}

// A plan or one of its bodies, `depth` levels below it; `num_devices` are those
// of the whole.
class Checker {
 public:
  Checker(const Plan& plan, int depth, int num_devices)
      : plan_(plan), depth_(depth), num_devices_(num_devices) {}

  absl::Status Check() {
    absl::Status status = CheckSymbols();
    if (status.ok()) status = CheckStorage();
    if (status.ok()) status = CheckTensors(plan_);
    if (status.ok()) status = CheckRequirements();
    if (status.ok()) status = CheckBodies();
    if (status.ok()) status = CheckCalls();
    if (status.ok()) status = CheckInputs();
    if (status.ok()) status = CheckStates();
    if (status.ok()) status = CheckOutputIndices();
    if (status.ok()) status = CheckPhases(plan_);
    if (status.ok()) status = CheckOrder(plan_);
    if (status.ok()) status = CheckPlacesOnDevices(plan_, num_devices_);
    return status;
  }

 private:
  absl::Status CheckSymbols() {
    absl::flat_hash_set<absl::string_view> names;
    for (int i = 0; i < plan_.symbols_size(); ++i) {
      const PlanSymbol& symbol = plan_.symbols(i);
      if (symbol.name().empty()) return Bad("a symbol has no name");
      if (!names.insert(symbol.name()).second) {
        return Bad("two symbols are named '", symbol.name(), "'");
      }
      if (symbol.lower_bound() < 0) {
        return Bad("symbol '", symbol.name(), "' may be as low as ",
                   symbol.lower_bound());
      }
      const absl::Status value = CheckDimExpr(symbol.value(), i);
      if (!value.ok()) {
        return Bad("symbol '", symbol.name(), "': ", value.message());
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckDevice(uint32_t device) const {
    if (device < static_cast<uint32_t>(num_devices_)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("it is on device ", device, " of ", num_devices_));
  }

  absl::Status CheckStorage() {
    for (int i = 0; i < plan_.storage_size(); ++i) {
      absl::Status status = CheckDevice(plan_.storage(i).device());
      for (const DimExpr& bytes : plan_.storage(i).bytes()) {
        if (status.ok()) status = CheckDimExpr(bytes, plan_.symbols_size());
      }
      if (!status.ok()) return Bad("storage ", i, ": ", status.message());
    }
    return absl::OkStatus();
  }

  absl::Status CheckRequirements() {
    for (const PlanRequirement& requirement : plan_.requirements()) {
      for (const DimExpr* dim : {&requirement.left(), &requirement.right()}) {
        absl::Status status = CheckDimExpr(*dim, plan_.symbols_size());
        if (!status.ok()) {
          return Bad("what ", requirement.source(),
                     " requires: ", status.message());
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckBodies() {
    if (plan_.bodies_size() > 0 && depth_ >= kMaxDepth) {
      return Bad("its bodies are nested more than ", kMaxDepth, " deep");
    }
    for (int i = 0; i < plan_.bodies_size(); ++i) {
      absl::Status status =
          Checker(plan_.bodies(i), depth_ + 1, num_devices_).Check();
      if (!status.ok()) {
        return Annotate(status, absl::StrCat("body ", i));
      }
    }
    return absl::OkStatus();
  }

  // Each call by itself: its indices and types.
  absl::Status CheckCalls() {
    used_bodies_.assign(plan_.bodies_size(), false);
    for (int i = 0; i < plan_.calls_size(); ++i) {
      const PlanCall& call = plan_.calls(i);
      absl::Status status = CheckArgs(call);
      if (status.ok()) status = CheckDevice(call.device());
      if (status.ok()) status = ClaimBodies(call);
      if (status.ok()) status = CheckStep(plan_, call);
      if (status.ok()) status = CheckInPlace(plan_, call, depth_ > 0);
      if (!status.ok()) {
        return Bad("call ", i, " (", call.function(), "): ", status.message());
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckArgs(const PlanCall& call) const {
    for (int k = 0; k < call.args_size(); ++k) {
      if (IsTensor(call.args(k))) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", k, " is tensor ", call.args(k), " of ",
                       plan_.tensors_size()));
    }
    if (call.num_outputs() <= static_cast<uint32_t>(call.args_size())) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("it writes ", call.num_outputs(), " of ", call.args_size(),
                     " arguments"));
  }

  // Checks that the bodies that a call runs are there, and no other call's.
  absl::Status ClaimBodies(const PlanCall& call) {
    for (uint32_t body : BodiesOf(call)) {
      if (body >= used_bodies_.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("it runs body ", body, " of ", used_bodies_.size()));
      }
      if (used_bodies_[body]) {
        return absl::InvalidArgumentError(
            absl::StrCat("body ", body, " is another call's"));
      }
      used_bodies_[body] = true;
    }
    return absl::OkStatus();
  }

  absl::Status CheckInputs() {
    for (int i = 0; i < plan_.inputs_size(); ++i) {
      const uint32_t t = plan_.inputs(i);
      if (!IsTensor(t)) {
        return Bad("input ", i, " is tensor ", t, " of ", plan_.tensors_size());
      }
      const PlanTensor& tensor = plan_.tensors(static_cast<int>(t));
      if (!tensor.has_input() || tensor.input() != static_cast<uint32_t>(i)) {
        return Bad("input ", i, " is tensor '", tensor.name(),
                   "', whose place is another");
      }
    }
    for (int i = 0; i < plan_.tensors_size(); ++i) {
      const PlanTensor& tensor = plan_.tensors(i);
      if (!tensor.has_input()) continue;
      const uint32_t input = plan_.inputs(static_cast<int>(tensor.input()));
      if (input != static_cast<uint32_t>(i)) {
        return Bad("tensor '", tensor.name(), "' is where input '",
                   plan_.tensors(static_cast<int>(input)).name(),
                   "' is, but no view of it");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckStates() {
    if (plan_.states_size() > 0 && depth_ > 0) {
      return Bad("a body has a state of its own");
    }
    if (plan_.state_results_size() > 0 &&
        plan_.state_results_size() != plan_.states_size()) {
      return Bad(plan_.state_results_size(), " results of ",
                 plan_.states_size(), " states");
    }
    for (int i = 0; i < plan_.states_size(); ++i) {
      const uint32_t t = plan_.states(i);
      if (!IsTensor(t)) {
        return Bad("state ", i, " is tensor ", t, " of ", plan_.tensors_size());
      }
      const PlanTensor& tensor = plan_.tensors(static_cast<int>(t));
      if (tensor.has_state() && tensor.state() == static_cast<uint32_t>(i)) {
        continue;
      }
      return Bad("state ", i, " is tensor '", tensor.name(),
                 "', whose place is another");
    }
    int places = 0;
    for (const PlanTensor& tensor : plan_.tensors()) {
      places += tensor.has_state() ? 1 : 0;
    }
    if (places == plan_.states_size()) return absl::OkStatus();
    return Bad(places, " tensors are in the places of ", plan_.states_size(),
               " states");
  }

  absl::Status CheckOutputIndices() {
    for (int i = 0; i < plan_.outputs_size(); ++i) {
      if (IsTensor(plan_.outputs(i))) continue;
      return Bad("output ", i, " is tensor ", plan_.outputs(i), " of ",
                 plan_.tensors_size());
    }
    return absl::OkStatus();
  }

  bool IsTensor(uint32_t index) const {
    return index < static_cast<uint32_t>(plan_.tensors_size());
  }

  const Plan& plan_;
  const int depth_;
  const int num_devices_;
  std::vector<bool> used_bodies_;  // by a call
};

absl::Status CheckVersion(const Plan& plan) {
  if (plan.version() == kPlanVersion) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "the plan has version ", plan.version(), ", this program reads version ",
      kPlanVersion, "; compile the model again"));
}

}  // namespace

absl::Status CheckPlan(const Plan& plan) {
  absl::Status status = CheckVersion(plan);
  if (status.ok()) status = CheckDevices(plan);
  if (status.ok()) status = Checker(plan, 0, plan.devices_size()).Check();
  return status;
}

absl::StatusOr<DataType> PlanDataType(const DataTypeProto& proto) {
  if (proto.code() <= 255 && proto.bits() <= 255) {
    const DataType type = CheckedDataType(proto);
    if (type.HasName() && type != DataType::Handle()) return type;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no tensor has the data type with code ", proto.code(),
                   " and ", proto.bits(), " bits"));
}

DataType CheckedDataType(const DataTypeProto& proto) {
  DataType type;
  type.code = static_cast<uint8_t>(proto.code());
  type.bits = static_cast<uint8_t>(proto.bits());
  return type;
}

}  // namespace ingot
