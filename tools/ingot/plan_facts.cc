#include "tools/ingot/plan_facts.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/data_type.h"
#include "runtime/plan/dim_expr.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

using Facts = std::map<std::string, std::string>;

std::string TypeOf(const PlanTensor& tensor,
                   const std::vector<std::string>& symbols) {
  DataType dtype;
  dtype.code = static_cast<uint8_t>(tensor.dtype().code());
  dtype.bits = static_cast<uint8_t>(tensor.dtype().bits());
  if (tensor.is_sequence()) {
    return absl::StrCat("sequence<", dtype.ToString(), ">");
  }
  return absl::StrCat(
      dtype.ToString(), "[",
      absl::StrJoin(tensor.shape(), ", ",
                    [&symbols](std::string* out, const DimExpr& dim) {
                      absl::StrAppend(out, DimExprToString(dim, symbols));
                    }),
      "]");
}

void AddEnds(
    const std::string& what, const Plan& plan,
    const google::protobuf::RepeatedField<google::protobuf::uint32>& ids,
    Facts* facts) {
  const std::vector<std::string> symbols = SymbolNames(plan);
  for (const uint32_t id : ids) {
    if (id >= static_cast<uint32_t>(plan.tensors_size())) continue;
    const PlanTensor& tensor = plan.tensors(static_cast<int>(id));
    (*facts)[absl::StrCat(what, " ", tensor.name())] = TypeOf(tensor, symbols);
  }
}

// "12.3 KiB in 4 places"; sizes that depend on inputs are counted apart.
std::string StorageText(const Plan& plan) {
  uint64_t bytes = 0;
  int open = 0;
  for (const PlanStorage& storage : plan.storage()) {
    uint64_t largest = 0;
    bool is_open = false;
    for (const DimExpr& size : storage.bytes()) {
      is_open = is_open || size.op() != DimExpr::CONST;
      largest = std::max(
          largest, static_cast<uint64_t>(std::max<int64_t>(size.value(), 0)));
    }
    if (is_open) ++open;
    if (!is_open && __builtin_add_overflow(bytes, largest, &bytes)) {
      return "more than 64 bits can say";
    }
  }
  return absl::StrCat(
      HumanSize(bytes), " in ", plan.storage_size() - open, " places",
      open == 0 ? "" : absl::StrCat(", and ", open, " that grow with inputs"));
}

std::string NameOf(const PlanCall& call) {
  if (call.has_function()) return call.function();
  if (call.has_branch()) return "a branch";
  if (call.has_loop()) return "a loop";
  if (call.has_sequence()) return call.sequence().op();
  if (call.has_random_state()) return "random_state";
  return call.has_bind_dims() ? "bind_dims" : "nothing";
}

}  // namespace

Facts PlanFacts(const Plan& plan) {
  Facts facts;
  AddEnds("input", plan, plan.inputs(), &facts);
  AddEnds("output", plan, plan.outputs(), &facts);
  for (const PlanSymbol& symbol : plan.symbols()) {
    facts[absl::StrCat("dimension ", symbol.name())] =
        absl::StrCat("at least ", symbol.lower_bound());
  }
  std::vector<std::string> devices;
  for (const PlanDevice& device : plan.devices()) {
    devices.push_back(device.kind());
  }
  facts["devices"] = absl::StrJoin(devices, ", ");
  facts["calls"] = absl::StrCat(plan.calls_size());
  facts["bodies of branches and loops"] = absl::StrCat(plan.bodies_size());
  facts["storage"] = StorageText(plan);
  int views = 0;
  std::set<std::string> constants;
  for (const PlanTensor& tensor : plan.tensors()) {
    if (tensor.has_view_of()) ++views;
    if (tensor.has_constant()) constants.insert(tensor.constant());
  }
  facts["views"] = absl::StrCat(views);
  facts["weights that calls read"] = absl::StrCat(constants.size());
  return facts;
}

std::string FirstOtherCall(const Plan& a, const Plan& b, std::string* in_a,
                           std::string* in_b) {
  const int most = std::max(a.calls_size(), b.calls_size());
  for (int i = 0; i < most; ++i) {
    *in_a = i < a.calls_size() ? NameOf(a.calls(i)) : "nothing";
    *in_b = i < b.calls_size() ? NameOf(b.calls(i)) : "nothing";
    if (*in_a != *in_b) return absl::StrCat("call ", i);
  }
  return "";
}

}  // namespace ingot
