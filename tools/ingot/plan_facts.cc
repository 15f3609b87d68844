#include "tools/ingot/plan_facts.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/describe.h"
#include "runtime/plan/dim_expr.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

using Facts = std::map<std::string, std::string>;

void AddEnds(
    const std::string& what, const Plan& plan,
    const google::protobuf::RepeatedField<google::protobuf::uint32>& ids,
    Facts* facts) {
  const std::vector<std::string> symbols = SymbolNames(plan);
  for (const uint32_t id : ids) {
    if (id >= static_cast<uint32_t>(plan.tensors_size())) continue;
    const PlanTensor& tensor = plan.tensors(static_cast<int>(id));
    (*facts)[absl::StrCat(what, " ", tensor.name())] =
        TypeToString(plan, tensor, symbols);
  }
}

// "12.3 KiB in 4 places"; sizes that depend on inputs are counted apart.
std::string StorageText(const Plan& plan) {
  uint64_t bytes = 0;
  int open = 0;
  for (const PlanStorage& storage : plan.storage()) {
    const std::optional<int64_t> size = KnownBytes(storage);
    if (!size) ++open;
    if (size && __builtin_add_overflow(bytes, *size, &bytes)) {
      return "more than 64 bits can say";
    }
  }
  return absl::StrCat(
      HumanSize(bytes), " in ", plan.storage_size() - open, " places",
      open == 0 ? "" : absl::StrCat(", and ", open, " that grow with inputs"));
}

}  // namespace

Facts PlanFacts(const Plan& plan) {
  Facts facts;
  AddEnds("input", plan, plan.inputs(), &facts);
  AddEnds("output", plan, plan.outputs(), &facts);
  AddEnds("state", plan, plan.states(), &facts);
  for (const PlanSymbol& symbol : plan.symbols()) {
    if (symbol.has_value()) continue;
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
  int views = 0, parts = 0;
  std::set<std::string> constants;
  for (const PlanTensor& tensor : plan.tensors()) {
    if (tensor.has_view_of()) ++views;
    if (tensor.has_part_of()) ++parts;
    if (tensor.has_constant()) constants.insert(tensor.constant());
  }
  facts["views"] = absl::StrCat(views);
  facts["parts of others"] = absl::StrCat(parts);
  facts["weights that calls read"] = absl::StrCat(constants.size());
  return facts;
}

std::string FirstOtherCall(const Plan& a, const Plan& b, std::string* in_a,
                           std::string* in_b) {
  const int most = std::max(a.calls_size(), b.calls_size());
  for (int i = 0; i < most; ++i) {
    *in_a = i < a.calls_size() ? StepToString(a.calls(i)) : "nothing";
    *in_b = i < b.calls_size() ? StepToString(b.calls(i)) : "nothing";
    if (*in_a != *in_b) return absl::StrCat("call ", i);
  }
  return "";
}

}  // namespace ingot
