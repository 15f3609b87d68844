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

namespace ingot {
namespace {

// More dimensions than any model has.
constexpr int kMaxRank = 64;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("plan: ", parts...));
}

// The largest phase of an expression's symbols.
int PhaseOf(const DimExpr& expr, const std::vector<int>& symbols) {
  if (expr.op() == DimExpr::SYMBOL) return symbols[expr.value()];
  int phase = 0;
  for (const DimExpr& operand : expr.operands()) {
    phase = std::max(phase, PhaseOf(operand, symbols));
  }
  return phase;
}

bool SameType(const PlanTensor& a, const PlanTensor& b, int rank_more = 0) {
  return a.dtype().code() == b.dtype().code() &&
         a.dtype().bits() == b.dtype().bits() &&
         a.shape_size() == b.shape_size() + rank_more;
}

// One element, as far as the type alone tells.
bool IsScalar(const PlanTensor& tensor, DataType type) {
  absl::StatusOr<DataType> dtype = PlanDataType(tensor.dtype());
  return dtype.ok() && *dtype == type &&
         std::all_of(tensor.shape().begin(), tensor.shape().end(),
                     [](const DimExpr& dim) {
                       return dim.op() == DimExpr::CONST && dim.value() == 1;
                     });
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
    if (status.ok()) status = CheckTensors();
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
      absl::Status status;
      if (call.has_branch()) {
        status = CheckBranch(call);
      } else if (call.has_loop()) {
        status = CheckLoop(call);
      } else if (call.function().empty()) {
        status = CheckBindCall(call);
      }
      if (!status.ok()) return Bad(where, status.message());
      for (const PlanBind& bind : call.binds()) {
        status = CheckBind(call, bind);
        if (!status.ok()) return Bad(where, status.message());
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckBindCall(const PlanCall& call) {
    if (call.args_size() != 2 || call.num_outputs() != 1 ||
        call.binds_size() == 0) {
      return absl::InvalidArgumentError("it has no function");
    }
    const PlanTensor& from = plan_.tensors(call.args(0));
    absl::StatusOr<DataType> dtype = PlanDataType(from.dtype());
    if (!dtype.ok() || *dtype != DataType::Int(64)) {
      return absl::InvalidArgumentError(
          absl::StrCat("it binds symbols to '", from.name(), "', not i64"));
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
    if (call.control_case() == PlanCall::CONTROL_NOT_SET) {
      const PlanTensor& from = plan_.tensors(call.args(0));
      int64_t elements = 1;
      for (const DimExpr& dim : from.shape()) {
        if (dim.op() != DimExpr::CONST || dim.value() < 0 ||
            dim.value() > kMaxBound || elements > kMaxBound) {
          return absl::InvalidArgumentError(absl::StrCat(
              "it binds symbols to '", from.name(), "', which is not short"));
        }
        elements *= dim.value();
      }
      if (bind.index() >= elements || bind.output() != 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("it binds to element ", bind.index(), " of '",
                         from.name(), "', which has ", elements));
      }
      return absl::OkStatus();
    }
    if (bind.output() >= call.num_outputs()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "it binds to result ", bind.output(), " of ", call.num_outputs()));
    }
    const PlanTensor& result = plan_.tensors(
        call.args(call.args_size() - static_cast<int>(call.num_outputs()) +
                  static_cast<int>(bind.output())));
    if (bind.index() >= static_cast<uint32_t>(result.shape_size())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "it binds to dimension ", bind.index(), " of '", result.name(), "'"));
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

  // Whether input (or output) `i` of a body is of the type of argument `arg`.
  bool TakesArg(const Plan& body, int i, const PlanCall& call, int arg) const {
    return SameType(body.tensors(body.inputs(i)),
                    plan_.tensors(call.args(arg)));
  }
  bool GivesArg(const Plan& body, int i, const PlanCall& call, int arg,
                int rank_more = 0) const {
    return SameType(plan_.tensors(call.args(arg)),
                    body.tensors(body.outputs(i)), rank_more);
  }

  absl::Status CheckBranch(const PlanCall& call) {
    const int outputs = static_cast<int>(call.num_outputs());
    const int reads = call.args_size() - outputs;
    if (reads < 1 || !IsScalar(plan_.tensors(call.args(0)), DataType::Bool())) {
      return absl::InvalidArgumentError("its condition is not one bool");
    }
    for (uint32_t b : {call.branch().then_body(), call.branch().else_body()}) {
      if (b == 0) continue;
      absl::Status status = CheckBody(b - 1);
      if (!status.ok()) return status;
      const Plan& body = plan_.bodies(static_cast<int>(b) - 1);
      bool fits =
          body.inputs_size() == reads - 1 && body.outputs_size() == outputs;
      for (int i = 0; fits && i + 1 < reads; ++i) {
        fits = TakesArg(body, i, call, i + 1);
      }
      for (int i = 0; fits && i < outputs; ++i) {
        fits = GivesArg(body, i, call, reads + i);
      }
      if (!fits) {
        return absl::InvalidArgumentError(
            absl::StrCat("body ", b - 1, " does not fit its arguments"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckLoop(const PlanCall& call) {
    const PlanLoop& loop = call.loop();
    const int outputs = static_cast<int>(call.num_outputs());
    const int reads = call.args_size() - outputs;
    const int first =
        (loop.has_trips() ? 1 : 0) + (loop.has_condition() ? 1 : 0);
    if (reads < first ||
        loop.carried() > static_cast<uint32_t>(reads - first) ||
        loop.carried() > static_cast<uint32_t>(outputs)) {
      return absl::InvalidArgumentError("it carries more than it has");
    }
    const int carried = static_cast<int>(loop.carried());
    if (loop.has_trips() &&
        !IsScalar(plan_.tensors(call.args(0)), DataType::Int(64))) {
      return absl::InvalidArgumentError("its number of trips is not one i64");
    }
    if (loop.has_condition() &&
        !IsScalar(plan_.tensors(call.args(first - 1)), DataType::Bool())) {
      return absl::InvalidArgumentError("its condition is not one bool");
    }
    absl::Status status = CheckBody(loop.body());
    if (!status.ok()) return status;
    const Plan& body = plan_.bodies(static_cast<int>(loop.body()));
    bool fits = body.inputs_size() == 1 + reads - first &&
                body.outputs_size() == 1 + outputs &&
                IsScalar(body.tensors(body.inputs(0)), DataType::Int(64)) &&
                IsScalar(body.tensors(body.outputs(0)), DataType::Bool());
    for (int i = first; fits && i < reads; ++i) {
      fits = TakesArg(body, 1 + i - first, call, i);
    }
    for (int i = 0; fits && i < outputs; ++i) {
      fits = GivesArg(body, 1 + i, call, reads + i, i < carried ? 0 : 1) &&
             (i >= carried || SameType(body.tensors(body.inputs(1 + i)),
                                       body.tensors(body.outputs(1 + i))));
    }
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("body ", loop.body(), " does not fit its arguments"));
    }
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

  absl::Status CheckTensors() {
    absl::flat_hash_set<absl::string_view> names;
    for (int i = 0; i < plan_.tensors_size(); ++i) {
      const PlanTensor& tensor = plan_.tensors(i);
      if (tensor.name().empty()) return Bad("tensor ", i, " has no name");
      if (!names.insert(tensor.name()).second) {
        return Bad("two tensors are named '", tensor.name(), "'");
      }
      absl::Status status = CheckTensor(tensor);
      if (!status.ok()) {
        return Bad("tensor '", tensor.name(), "': ", status.message());
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckTensor(const PlanTensor& tensor) {
    absl::StatusOr<DataType> dtype = PlanDataType(tensor.dtype());
    if (!dtype.ok()) return dtype.status();
    if (tensor.shape_size() > kMaxRank) {
      return absl::InvalidArgumentError(
          absl::StrCat("it has ", tensor.shape_size(), " dimensions"));
    }
    for (const DimExpr& dim : tensor.shape()) {
      absl::Status status = CheckDimExpr(dim, plan_.symbols_size());
      if (!status.ok()) return status;
    }
    if (tensor.same_bytes_as() > static_cast<uint32_t>(plan_.tensors_size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("it is a view of tensor ", tensor.same_bytes_as() - 1,
                       " of ", plan_.tensors_size()));
    }
    if (tensor.same_bytes_as() > 0) {
      const PlanTensor& other =
          plan_.tensors(static_cast<int>(tensor.same_bytes_as()) - 1);
      if (other.place_case() != tensor.place_case() ||
          other.constant() != tensor.constant() ||
          other.input() != tensor.input() ||
          other.storage() != tensor.storage() ||
          other.offset() != tensor.offset() ||
          (other.place_case() == PlanTensor::kConstant &&
           std::any_of(other.shape().begin(), other.shape().end(),
                       HasSymbols))) {
        return absl::InvalidArgumentError(absl::StrCat(
            "it is a view of '", other.name(), "', which is elsewhere"));
      }
    }
    switch (tensor.place_case()) {
      case PlanTensor::kInput:
        if (tensor.input() >= static_cast<uint32_t>(plan_.inputs_size())) {
          return absl::InvalidArgumentError(absl::StrCat(
              "it is input ", tensor.input(), " of ", plan_.inputs_size()));
        }
        break;
      case PlanTensor::kConstant:
        if (tensor.constant().empty()) {
          return absl::InvalidArgumentError("its constant has no key");
        }
        for (const DimExpr& dim : tensor.shape()) {
          if (HasSymbols(dim) && tensor.same_bytes_as() == 0) {
            return absl::InvalidArgumentError(
                "it is a constant with a symbolic dimension");
          }
        }
        break;
      case PlanTensor::kStorage:
        if (tensor.storage() >= static_cast<uint32_t>(plan_.storage_size())) {
          return absl::InvalidArgumentError(
              absl::StrCat("it is in storage ", tensor.storage(), " of ",
                           plan_.storage_size()));
        }
        if (tensor.offset() % dtype->bytes() != 0) {
          return absl::InvalidArgumentError(
              absl::StrCat("its offset ", tensor.offset(),
                           " is not a multiple of its element's size"));
        }
        return absl::OkStatus();
      case PlanTensor::PLACE_NOT_SET:
        return absl::InvalidArgumentError("it is nowhere");
    }
    if (tensor.offset() != 0) {
      return absl::InvalidArgumentError(
          "it has an offset, but is not in storage");
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
          if (!IsWritten(tensor)) {
            return Bad(where, "it reads '", tensor.name(),
                       "' before any call wrote it");
          }
        } else if (tensor.place_case() != PlanTensor::kStorage) {
          return Bad(where, "it writes '", tensor.name(),
                     "', which is not in storage");
        }
      }
      for (int k = num_reads; k < call.args_size(); ++k) {
        written_[plan_.tensors(call.args(k)).storage()] = true;
      }
      phase = phase_after;
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
      if (!IsWritten(plan_.tensors(t))) {
        return Bad("output ", i, ", '", plan_.tensors(t).name(),
                   "', is written by no call");
      }
    }
    return absl::OkStatus();
  }

  bool IsTensor(uint32_t index) const {
    return index < static_cast<uint32_t>(plan_.tensors_size());
  }

  bool IsWritten(const PlanTensor& tensor) const {
    return tensor.place_case() != PlanTensor::kStorage ||
           written_[tensor.storage()];
  }

  static constexpr int kMaxDepth = 32;
  // More elements than any vector of dimensions has.
  static constexpr int64_t kMaxBound = 4096;

  const Plan& plan_;
  const int depth_;
  std::vector<bool> bound_;        // symbols, by calls
  std::vector<bool> used_bodies_;  // by a call
  std::vector<bool> written_;      // storage
  PlanPhases phases_;
};

}  // namespace

absl::Status CheckPlan(const Plan& plan) { return Checker(plan).Check(); }

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
    phases.tensors.push_back(phase);
  }
  return phases;
}

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
