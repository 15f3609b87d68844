#include "tools/ingot/placement_report.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

// A summary names so many nodes a reason.
constexpr size_t kMaxNamed = 3;

std::string Nodes(size_t count) {
  return absl::StrCat(count, count == 1 ? " node" : " nodes");
}

}  // namespace

std::string PlacementSummary(const Placement& placement) {
  std::map<std::string, size_t> taken;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>>
      refused;
  for (const NodePlacement& node : placement.nodes) {
    ++taken[node.target];
    for (const relay::Refusal& refusal : node.why_not) {
      refused[{refusal.target, refusal.reason}].push_back(node.name);
    }
  }
  std::vector<std::string> parts;
  for (const auto& [target, count] : taken) {
    if (target == kFolded) continue;
    parts.push_back(absl::StrCat(target, " ", Nodes(count)));
  }
  if (taken.count(kFolded) > 0) {
    parts.push_back(absl::StrCat(taken[kFolded], " ", kFolded));
  }
  if (parts.empty()) parts.emplace_back("no nodes");
  std::string text = absl::StrCat("placement: ", absl::StrJoin(parts, ", "));
  if (placement.regions > 0) {
    absl::StrAppend(&text, ", ", placement.regions,
                    placement.regions == 1 ? " region" : " regions");
  }
  if (placement.copies > 0) {
    absl::StrAppend(&text, ", ", placement.copies,
                    placement.copies == 1 ? " copy" : " copies",
                    " to or from devices");
  }
  absl::StrAppend(&text, "\n");
  for (auto& [why, names] : refused) {
    const size_t count = names.size();
    if (count > kMaxNamed) names.resize(kMaxNamed);
    absl::StrAppend(&text, "  not ", OneLine(why.first), ": ",
                    OneLine(why.second), ": ",
                    OneLine(absl::StrJoin(names, ", ")));
    if (count > kMaxNamed) {
      absl::StrAppend(&text, " and ", count - kMaxNamed, " more");
    }
    absl::StrAppend(&text, "\n");
  }
  for (const StatePlacement& state : placement.states) {
    absl::StrAppend(&text, "  state ", OneLine(state.name), ": ", state.type,
                    ", becomes ", OneLine(state.result), ": ",
                    state.is_rewritten ? "each run writes all of it"
                                       : "each run writes its new entries",
                    "\n");
  }
  return text;
}

std::string PlacementTable(const Placement& placement) {
  Table table({"NODE", "OP", "TARGET", "WHY NOT AN EARLIER ONE"});
  for (const NodePlacement& node : placement.nodes) {
    std::vector<std::string> reasons;
    for (const relay::Refusal& refusal : node.why_not) {
      reasons.push_back(absl::StrCat(refusal.target, ": ", refusal.reason));
    }
    table.Add({OneLine(node.name), OneLine(node.op), node.target,
               OneLine(absl::StrJoin(reasons, "; "))});
  }
  return table.ToString();
}

nlohmann::ordered_json PlacementJson(const Placement& placement) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const NodePlacement& node : placement.nodes) {
    nlohmann::ordered_json why_not = nlohmann::ordered_json::array();
    for (const relay::Refusal& refusal : node.why_not) {
      why_not.push_back(
          {{"target", refusal.target}, {"reason", refusal.reason}});
    }
    nodes.push_back({{"name", node.name},
                     {"op", node.op},
                     {"target", node.target},
                     {"why_not", std::move(why_not)}});
  }
  nlohmann::ordered_json json = {{"nodes", std::move(nodes)},
                                 {"regions", placement.regions},
                                 {"copies", placement.copies}};
  for (const StatePlacement& state : placement.states) {
    json["states"].push_back({{"name", state.name},
                              {"type", state.type},
                              {"result", state.result},
                              {"is_rewritten", state.is_rewritten}});
  }
  return json;
}

}  // namespace ingot
