#include "tools/export_mlf/metadata.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "runtime/data_type.h"
#include "runtime/plan/check.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"
#include "runtime/plan/views.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using nlohmann::ordered_json;

constexpr int kVersion = 7;

// TVM's name of a type: "float32".
std::string TypeName(DataType t) {
  if (t.is_bool()) return "bool";
  const char* kind = t.code == DataType::kFloat    ? "float"
                     : t.code == DataType::kBFloat ? "bfloat"
                     : t.is_uint()                 ? "uint"
                                                   : "int";
  return absl::StrCat(kind, int{t.bits});
}

// Sizes in the tensors of a plan without symbols.
class Sizes {
 public:
  explicit Sizes(const Plan& plan) : plan_(plan) {}

  absl::StatusOr<uint64_t> Of(uint32_t t) const {
    const PlanType& declared = PlanTypeOf(plan_, t);
    INGOT_ASSIGN_OR_RETURN(const DataType type, PlanDataType(declared.dtype()));
    std::vector<int64_t> shape;
    for (const DimExpr& dim : declared.shape()) {
      INGOT_ASSIGN_OR_RETURN(const int64_t n, EvaluateDimExpr(dim, {}));
      shape.push_back(n);
    }
    return CountBytes(type, shape);
  }

  // Adds those of `tensors` to *sum, by name and each with its type.
  template <typename Tensors>
  absl::StatusOr<ordered_json> Describe(const Tensors& tensors,
                                        uint64_t* sum) const {
    ordered_json described = ordered_json::object();
    for (uint32_t t : tensors) {
      const PlanTensor& tensor = plan_.tensors(static_cast<int>(t));
      INGOT_ASSIGN_OR_RETURN(const DataType type,
                             PlanDataType(PlanTypeOf(plan_, tensor).dtype()));
      INGOT_ASSIGN_OR_RETURN(const uint64_t bytes, Of(t));
      described[tensor.name()] = {{"size", bytes}, {"dtype", TypeName(type)}};
      *sum += bytes;
    }
    return described;
  }

 private:
  const Plan& plan_;
};

// Adds to `bytes`, by function, the most that a call's workspaces need: what it
// writes and no other reads.
absl::Status AddWorkspaces(const Plan& plan,
                           std::map<std::string, uint64_t>* bytes) {
  std::set<uint32_t> read;
  for (uint32_t t : plan.outputs()) read.insert(RootOf(plan, t));
  for (const PlanCall& call : plan.calls()) {
    for (int i = 0; i < call.args_size() - static_cast<int>(call.num_outputs());
         ++i) {
      read.insert(RootOf(plan, call.args(i)));
    }
  }
  const Sizes sizes(plan);
  for (const PlanCall& call : plan.calls()) {
    if (!call.has_function()) continue;
    uint64_t sum = 0;
    for (int i = call.args_size() - static_cast<int>(call.num_outputs());
         i < call.args_size(); ++i) {
      if (read.count(RootOf(plan, call.args(i))) > 0) continue;
      INGOT_ASSIGN_OR_RETURN(const uint64_t size, sizes.Of(call.args(i)));
      sum += size;
    }
    uint64_t& most = (*bytes)[call.function()];
    most = std::max(most, sum);
  }
  for (const Plan& body : plan.bodies()) {
    INGOT_RETURN_IF_ERROR(AddWorkspaces(body, bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<ordered_json> FunctionWorkspaces(const Plan& plan) {
  std::map<std::string, uint64_t> bytes;
  INGOT_RETURN_IF_ERROR(AddWorkspaces(plan, &bytes));
  ordered_json functions = ordered_json::array();
  for (const auto& [name, most] : bytes) {
    functions.push_back(
        {{"function_name", name},
         {"workspace",
          {{{"device", int{kDLCPU}}, {"workspace_size_bytes", most}}}}});
  }
  return functions;
}

// The storage of a plan and of its bodies, which an executor keeps all.
absl::StatusOr<uint64_t> StorageBytes(const Plan& plan) {
  uint64_t storage = 0;
  for (const PlanStorage& place : plan.storage()) {
    int64_t most = 0;
    for (const DimExpr& bytes : place.bytes()) {
      INGOT_ASSIGN_OR_RETURN(const int64_t n, EvaluateDimExpr(bytes, {}));
      most = std::max(most, n);
    }
    storage += static_cast<uint64_t>(most);
  }
  for (const Plan& body : plan.bodies()) {
    INGOT_ASSIGN_OR_RETURN(const uint64_t bytes, StorageBytes(body));
    storage += bytes;
  }
  return storage;
}

absl::StatusOr<ordered_json> MainMemory(const Plan& plan,
                                        const NamedTensors& weights) {
  INGOT_ASSIGN_OR_RETURN(const uint64_t storage, StorageBytes(plan));
  uint64_t constants = 0, io = 0;
  for (const auto& [name, tensor] : weights) constants += tensor.bytes();
  const Sizes sizes(plan);
  INGOT_ASSIGN_OR_RETURN(const ordered_json inputs,
                         sizes.Describe(plan.inputs(), &io));
  INGOT_ASSIGN_OR_RETURN(const ordered_json outputs,
                         sizes.Describe(plan.outputs(), &io));
  return ordered_json::array({{{"device", int{kDLCPU}},
                               {"workspace_size_bytes", storage},
                               {"constants_size_bytes", constants},
                               {"io_size_bytes", io},
                               {"inputs", inputs},
                               {"outputs", outputs}}});
}

bool HasSymbols(const Plan& plan) {
  return plan.symbols_size() > 0 ||
         std::any_of(plan.bodies().begin(), plan.bodies().end(), HasSymbols);
}

// The targets of a list. A comma before + or -, or between quotes, belongs to
// the value of an option.
std::vector<std::string> TargetsOf(absl::string_view list) {
  std::vector<std::string> targets(1);
  bool quoted = false;
  for (size_t i = 0; i < list.size(); ++i) {
    const bool in_value =
        i + 1 < list.size() && (list[i + 1] == '+' || list[i + 1] == '-');
    if (list[i] == ',' && !quoted && !in_value) {
      targets.emplace_back();
      continue;
    }
    targets.back() += list[i];
    if (quoted && list[i] == '\\' && i + 1 < list.size()) {
      targets.back() += list[++i];
    } else if (list[i] == '"') {
      quoted = !quoted;
    }
  }
  for (std::string& target : targets) absl::StripAsciiWhitespace(&target);
  return targets;
}

}  // namespace

absl::StatusOr<std::string> MlfMetadata(const Provenance& provenance,
                                        const Plan& plan,
                                        const NamedTensors& weights,
                                        bool has_main, absl::Time time) {
  if (HasSymbols(plan)) {
    return absl::FailedPreconditionError(
        "the model has symbolic dimensions, which the Model Library Format "
        "cannot say; fix them when compiling, with --input-shape");
  }
  INGOT_ASSIGN_OR_RETURN(const ordered_json main, MainMemory(plan, weights));
  INGOT_ASSIGN_OR_RETURN(const ordered_json functions,
                         FunctionWorkspaces(plan));
  ordered_json executors = {"plan"};
  if (has_main) executors.push_back("aot");
  const std::string& name = provenance.symbol_prefix();
  const ordered_json module = {
      {"model_name", name},
      {"export_datetime",
       absl::FormatTime("%Y-%m-%d %H:%M:%SZ", time, absl::UTCTimeZone())},
      {"memory",
       {{"functions", {{"main", main}, {"operator_functions", functions}}}}},
      {"target", TargetsOf(provenance.target())},
      {"executors", executors},
      {"style", "full-model"}};
  const ordered_json metadata = {{"version", kVersion},
                                 {"modules", {{name, module}}}};
  return metadata.dump(2, ' ', false,
                       nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace ingot
