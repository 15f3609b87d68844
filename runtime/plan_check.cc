#include "runtime/plan_check.h"

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

class Checker {
 public:
  explicit Checker(const Plan& plan) : plan_(plan) {}

  absl::Status Check() {
    if (plan_.version() != kPlanVersion) {
      return absl::UnimplementedError(
          absl::StrCat("the plan has version ", plan_.version(),
                       ", this program reads version ", kPlanVersion));
    }
    absl::Status status = CheckSymbolNames();
    if (status.ok()) status = CheckStorage();
    if (status.ok()) status = CheckTensors();
    if (status.ok()) status = CheckInputs();
    if (status.ok()) status = CheckCalls();
    if (status.ok()) status = CheckOutputs();
    return status;
  }

 private:
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
          if (HasSymbols(dim)) {
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
    std::vector<bool> bound(plan_.symbols_size(), false);
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
        if (dim.op() == DimExpr::SYMBOL) bound[dim.value()] = true;
      }
    }
    for (int i = 0; i < plan_.symbols_size(); ++i) {
      if (!bound[i]) {
        return Bad("symbol '", plan_.symbols(i),
                   "' is not a dimension of any input");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckCalls() {
    written_.assign(plan_.storage_size(), false);
    for (int i = 0; i < plan_.calls_size(); ++i) {
      const PlanCall& call = plan_.calls(i);
      const std::string where =
          absl::StrCat("call ", i, " (", call.function(), "): ");
      if (call.function().empty()) return Bad(where, "it has no function");
      if (call.num_outputs() > static_cast<uint32_t>(call.args_size())) {
        return Bad(where, "it writes ", call.num_outputs(), " of ",
                   call.args_size(), " arguments");
      }
      const int num_reads =
          call.args_size() - static_cast<int>(call.num_outputs());
      for (int k = 0; k < call.args_size(); ++k) {
        const uint32_t t = call.args(k);
        if (!IsTensor(t)) {
          return Bad(where, "argument ", k, " is tensor ", t, " of ",
                     plan_.tensors_size());
        }
        const PlanTensor& tensor = plan_.tensors(t);
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

  const Plan& plan_;
  std::vector<bool> written_;  // storage
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
