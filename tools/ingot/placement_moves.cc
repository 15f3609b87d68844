// Two placements of one model, side by side.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/ingot/output.h"
#include "tools/ingot/placement_report.h"

namespace ingot {
namespace {

// The place of a target in a list; its size when it is not there.
size_t PlaceOf(absl::string_view id, const std::vector<Target>& targets) {
  const auto found =
      std::find_if(targets.begin(), targets.end(),
                   [id](const Target& t) { return t.Id() == id; });
  return static_cast<size_t>(found - targets.begin());
}

// The reason why `id`, one of the targets of `placement`, did not take a node.
std::string RefusalOf(const NodePlacement& node, absl::string_view id,
                      const std::vector<Target>& targets) {
  const size_t place = PlaceOf(id, targets);
  if (place == targets.size()) return "";
  const std::string text = targets[place].ToString();
  for (const relay::Refusal& refusal : node.why_not) {
    if (refusal.target == text || refusal.target == id) return refusal.reason;
  }
  return "";
}

// What keeps `node` from `id` in the placement that is called `name`.
std::string WhyNot(const NodePlacement& node, absl::string_view id,
                   const TargetsPlacement& in, absl::string_view name) {
  if (PlaceOf(id, in.targets) == in.targets.size()) {
    return absl::StrCat(id, " is not among the targets of ", name);
  }
  const std::string reason = RefusalOf(node, id, in.targets);
  if (!reason.empty()) {
    return absl::StrCat(id, " does not take it in ", name, ": ", reason);
  }
  const std::vector<std::string> taken = absl::StrSplit(node.target, '+');
  const bool is_later =
      std::any_of(taken.begin(), taken.end(), [&](const std::string& target) {
        return PlaceOf(target, in.targets) < PlaceOf(id, in.targets);
      });
  return is_later
             ? absl::StrCat(node.target, " stands before ", id, " in ", name)
             : "";
}

std::vector<std::string> WhyMoved(const NodePlacement& from,
                                  const NodePlacement& to,
                                  const TargetsPlacement& a,
                                  const TargetsPlacement& b) {
  if (from.target == kFolded) return {"it is folded in A, and not in B"};
  if (to.target == kFolded) return {"it is folded in B, and not in A"};
  std::vector<std::string> why;
  const auto add = [&why](std::string reason) {
    if (!reason.empty()) why.push_back(std::move(reason));
  };
  for (const absl::string_view id : absl::StrSplit(from.target, '+')) {
    add(WhyNot(to, id, b, "B"));
  }
  for (const absl::string_view id : absl::StrSplit(to.target, '+')) {
    add(WhyNot(from, id, a, "A"));
  }
  return why;
}

}  // namespace

std::vector<Move> FindMoves(const TargetsPlacement& a,
                            const TargetsPlacement& b) {
  std::map<std::string, const NodePlacement*> in_b;
  for (const NodePlacement& node : b.placement.nodes) in_b[node.name] = &node;
  std::vector<Move> moves;
  for (const NodePlacement& from : a.placement.nodes) {
    const auto found = in_b.find(from.name);
    if (found == in_b.end() || found->second->target == from.target) continue;
    const NodePlacement& to = *found->second;
    moves.push_back(
        {from.name, from.op, from.target, to.target, WhyMoved(from, to, a, b)});
  }
  return moves;
}

std::string MovesText(const std::vector<Move>& moves) {
  if (moves.empty()) return "every node is on the same target\n";
  Table table({"NODE", "OP", "A", "B", "WHY"});
  for (const Move& move : moves) {
    table.Add({OneLine(move.name), OneLine(move.op), move.from, move.to,
               OneLine(absl::StrJoin(move.why, "; "))});
  }
  return table.ToString();
}

nlohmann::ordered_json MovesJson(const std::vector<Move>& moves) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Move& move : moves) {
    list.push_back({{"name", move.name},
                    {"op", move.op},
                    {"from", move.from},
                    {"to", move.to},
                    {"why", move.why}});
  }
  return {{"moved", std::move(list)}};
}

}  // namespace ingot
