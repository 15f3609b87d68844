#include "runtime/plan_check.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/data_type.h"
#include "runtime/dim_expr.h"
#include "runtime/plan.pb.h"
#include "runtime/plan_check_calls.h"
#include "runtime/plan_check_tensors.h"

namespace ingot {
namespace {

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("plan: ", parts...));
}

class Checker {
 public:
  explicit Checker(const Plan& plan, int depth = 0)
      : plan_(plan), depth_(depth) {}

  absl::Status Check() {
    if (depth_ == 0 && plan_.version() != kPlanVersion) {
      return absl::UnimplementedError(
          absl::StrCat("the plan has version ", plan_.version(),
                       ", this program reads version ", kPlanVersion));
    }
    absl::Status status = CheckSymbolNames();
    if (status.ok()) status = CheckStorage();
    if (status.ok()) status = CheckTensors(plan_);
    if (status.ok()) status = CheckRequirements();
    if (status.ok()) status = CheckBodies();
    if (status.ok()) status = CheckBinders();
    if (status.ok()) status = CheckInputs();
    if (status.ok()) status = CheckCalls();
    if (status.ok()) status = CheckOutputs();
    return status;
  }

 private:
  absl::Status CheckBodies() {
    if (plan_.bodies_size() > 0 && depth_ >= kMaxDepth) {
      return Bad("its bodies are nested more than ", kMaxDepth, " deep");
    }
    for (int i = 0; i < plan_.bodies_size(); ++i) {
      absl::Status status = Checker(plan_.bodies(i), depth_ + 1).Check();
      if (!status.ok()) {
        return absl::Status(status.code(),
                            absl::StrCat("body ", i, ": ", status.message()));
      }
    }
    return absl::OkStatus();
  }

  // The calls that bind symbols, alone: their indices and types.
  absl::Status CheckBinders() {
    bound_.assign(plan_.symbols_size(), false);
    used_bodies_.assign(plan_.bodies_size(), false);
    for (int i = 0; i < plan_.calls_size(); ++i) {
      const PlanCall& call = plan_.calls(i);
      const std::string where =
          absl::StrCat("call ", i, " (", call.function(), "): ");
      for (int k = 0; k < call.args_size(); ++k) {
        if (IsTensor(call.args(k))) continue;
        return Bad(where, "argument ", k, " is tensor ", call.args(k), " of ",
                   plan_.tensors_size());
      }
      if (call.num_outputs() > static_cast<uint32_t>(call.args_size())) {
        return Bad(where, "it writes ", call.num_outputs(), " of ",
                   call.args_size(), " arguments");
      }
      const bool control = call.control_case() != PlanCall::CONTROL_NOT_SET;
      if (!call.function().empty() && (control || call.binds_size() > 0)) {
        return Bad(where, "it does more than one thing");
      }
      for (int k = 0; !control && k < call.args_size(); ++k) {
        if (!plan_.tensors(call.args(k)).is_list()) continue;
        return Bad(where, "argument ", k, ", '",
                   plan_.tensors(call.args(k)).name(), "', is a list");
      }
      absl::Status status = ClaimBodies(call);
      if (status.ok()) status = CheckControl(call);
      if (!status.ok()) return Bad(where, status.message());
      for (const PlanBind& bind : call.binds()) {
        status = CheckBind(call, bind);
        if (!status.ok()) return Bad(where, status.message());
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckBind(const PlanCall& call, const PlanBind& bind) {
    if (bind.symbol() >= static_cast<uint32_t>(plan_.symbols_size())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "it binds symbol ", bind.symbol(), " of ", plan_.symbols_size()));
    }
    if (bound_[bind.symbol()]) {
      return absl::InvalidArgumentError(absl::StrCat(
          "symbol '", plan_.symbols(bind.symbol()), "' is bound twice"));
    }
    bound_[bind.symbol()] = true;
    return CheckBindIndex(plan_, call, bind);
  }

  absl::Status CheckControl(const PlanCall& call) {
    switch (call.control_case()) {
      case PlanCall::kBranch:
        return CheckBranch(plan_, call);
      case PlanCall::kLoop:
        return CheckLoop(plan_, call);
      case PlanCall::kList:
        return CheckListStep(plan_, call);
      case PlanCall::kRandomState:
        return CheckRandomState(plan_, call);
      case PlanCall::CONTROL_NOT_SET:
        break;
    }
    return call.function().empty() ? CheckBindCall(plan_, call)
                                   : absl::OkStatus();
  }

  // The bodies that a call runs are there, and its own.
  absl::Status ClaimBodies(const PlanCall& call) {
    std::vector<uint32_t> bodies;
    if (call.has_loop()) bodies.push_back(call.loop().body());
    for (uint32_t b : {call.branch().then_body(), call.branch().else_body()}) {
      if (b > 0) bodies.push_back(b - 1);
    }
    for (uint32_t body : bodies) {
      absl::Status status = CheckBody(body);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status CheckBody(uint32_t body) {
    if (body >= static_cast<uint32_t>(plan_.bodies_size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("it runs body ", body, " of ", plan_.bodies_size()));
    }
    if (used_bodies_[body]) {
      return absl::InvalidArgumentError(
          absl::StrCat("body ", body, " is another call's"));
    }
    used_bodies_[body] = true;
    return absl::OkStatus();
  }

  absl::Status CheckSymbolNames() {
    absl::flat_hash_set<absl::string_view> names;
    for (const std::string& name : plan_.symbols()) {
      if (name.empty()) return Bad("a symbol has no name");
      if (!names.insert(name).second) {
        return Bad("two symbols are named '", name, "'");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckStorage() {
    for (int i = 0; i < plan_.storage_size(); ++i) {
      for (const DimExpr& bytes : plan_.storage(i).bytes()) {
        absl::Status status = CheckDimExpr(bytes, plan_.symbols_size());
        if (!status.ok()) return Bad("storage ", i, ": ", status.message());
      }
    }
    return absl::OkStatus();
  }

  // Nothing else is where an input is that is a list.
  absl::Status CheckListInputs() {
    for (int i = 0; i < plan_.tensors_size(); ++i) {
      const PlanTensor& tensor = plan_.tensors(i);
      if (tensor.place_case() != PlanTensor::kInput) continue;
      const uint32_t whole = plan_.inputs(tensor.input());
      if (whole != static_cast<uint32_t>(i) &&
          (tensor.is_list() || plan_.tensors(whole).is_list())) {
        return Bad("tensor '", tensor.name(), "' is a view of a list");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckInputs() {
    std::vector<bool> bound = bound_;
    for (int i = 0; i < plan_.inputs_size(); ++i) {
      const uint32_t t = plan_.inputs(i);
      if (!IsTensor(t)) {
        return Bad("input ", i, " is tensor ", t, " of ", plan_.tensors_size());
      }
      const PlanTensor& tensor = plan_.tensors(t);
      if (tensor.place_case() != PlanTensor::kInput ||
          tensor.input() != static_cast<uint32_t>(i)) {
        return Bad("input ", i, " is tensor '", tensor.name(),
                   "', whose place is another");
      }
      for (const DimExpr& dim : tensor.shape()) {
        if (dim.op() != DimExpr::SYMBOL) continue;
        if (bound_[dim.value()]) {
          return Bad("symbol '", plan_.symbols(static_cast<int>(dim.value())),
                     "' is bound by an input and by a call");
        }
        bound[dim.value()] = true;
      }
    }
    for (int i = 0; i < plan_.symbols_size(); ++i) {
      if (!bound[i]) {
        return Bad("symbol '", plan_.symbols(i),
                   "' is not a dimension of any input");
      }
    }
    absl::Status status = CheckListInputs();
    if (!status.ok()) return status;
    phases_ = FindPhases(plan_);
    for (int i = 0; i < plan_.inputs_size(); ++i) {
      if (phases_.tensors[plan_.inputs(i)] > 0) {
        return Bad("input ", i, " has a dimension that only a call binds");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckCalls() {
    written_.assign(plan_.storage_size(), false);
    made_.assign(plan_.tensors_size(), false);
    int phase = 0;
    for (int i = 0; i < plan_.calls_size(); ++i) {
      const PlanCall& call = plan_.calls(i);
      const std::string where =
          absl::StrCat("call ", i, " (", call.function(), "): ");
      const int num_reads =
          call.args_size() - static_cast<int>(call.num_outputs());
      const int phase_after = std::max(phase, phases_.calls[i]);
      for (int k = 0; k < call.args_size(); ++k) {
        const uint32_t t = call.args(k);
        const PlanTensor& tensor = plan_.tensors(t);
        if (phases_.tensors[t] > (k < num_reads ? phase : phase_after)) {
          return Bad(where, "a dimension of '", tensor.name(),
                     "' is not bound by then");
        }
        if (k < num_reads) {
          if (!IsWritten(t)) {
            return Bad(where, "it reads '", tensor.name(),
                       "' before any call wrote it");
          }
        } else if (tensor.place_case() != (tensor.is_list()
                                               ? PlanTensor::PLACE_NOT_SET
                                               : PlanTensor::kStorage)) {
          return Bad(where, "it writes '", tensor.name(),
                     "', which is not in storage");
        }
      }
      for (int k = num_reads; k < call.args_size(); ++k) {
        const uint32_t t = call.args(k);
        made_[t] = true;
        if (!plan_.tensors(t).is_list()) {
          written_[plan_.tensors(t).storage()] = true;
        }
      }
      phase = phase_after;
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

  absl::Status CheckOutputs() {
    for (int i = 0; i < plan_.outputs_size(); ++i) {
      const uint32_t t = plan_.outputs(i);
      if (!IsTensor(t)) {
        return Bad("output ", i, " is tensor ", t, " of ",
                   plan_.tensors_size());
      }
      if (!IsWritten(t)) {
        return Bad("output ", i, ", '", plan_.tensors(t).name(),
                   "', is written by no call");
      }
    }
    return absl::OkStatus();
  }

  bool IsTensor(uint32_t index) const {
    return index < static_cast<uint32_t>(plan_.tensors_size());
  }

  bool IsWritten(uint32_t index) const {
    const PlanTensor& tensor = plan_.tensors(index);
    if (tensor.place_case() == PlanTensor::PLACE_NOT_SET) return made_[index];
    return tensor.place_case() != PlanTensor::kStorage ||
           written_[tensor.storage()];
  }

  static constexpr int kMaxDepth = 32;

  const Plan& plan_;
  const int depth_;
  std::vector<bool> bound_;        // symbols, by calls
  std::vector<bool> used_bodies_;  // by a call
  std::vector<bool> written_;      // storage
  std::vector<bool> made_;         // tensors and lists, by calls
  PlanPhases phases_;
};

}  // namespace

absl::Status CheckPlan(const Plan& plan) { return Checker(plan).Check(); }

absl::StatusOr<DataType> PlanDataType(const DataTypeProto& proto) {
  DataType type;
  if (proto.code() <= 255 && proto.bits() <= 255) {
    type.code = static_cast<uint8_t>(proto.code());
    type.bits = static_cast<uint8_t>(proto.bits());
    absl::StatusOr<DataType> known = DataType::Parse(type.ToString());
    if (known.ok() && *known == type && type != DataType::Handle()) {
      return type;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no tensor has the data type with code ", proto.code(),
                   " and ", proto.bits(), " bits"));
}

}  // namespace ingot
