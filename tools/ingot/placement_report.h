#ifndef INGOT_TOOLS_INGOT_PLACEMENT_REPORT_H_
#define INGOT_TOOLS_INGOT_PLACEMENT_REPORT_H_

#include <string>
#include <vector>

#include "compiler/driver/placement.h"
#include "compiler/target/target.h"
#include "nlohmann/json.hpp"

namespace ingot {

// A few lines: how many nodes each target took, and for each reason why one did
// not take others, how many and which.
std::string PlacementSummary(const Placement& placement);

// A table with one row per node.
std::string PlacementTable(const Placement& placement);

// A placement, and the targets that there were for it.
struct TargetsPlacement {
  std::vector<Target> targets;
  Placement placement;
};

// A node that is on another target in the second of two placements of a model.
struct Move {
  std::string name, op;
  std::string from, to;  // as NodePlacement::target
  std::vector<std::string> why;
};

// The nodes that moved from `a` to `b`, in the model's order, with what keeps
// each from where it was and brings it to where it is: a target that only one
// of the two has, a reason not to take it, an earlier place in the list.
std::vector<Move> FindMoves(const TargetsPlacement& a,
                            const TargetsPlacement& b);

// A table with one row per move, or a line that says that there is none.
std::string MovesText(const std::vector<Move>& moves);

// {"moved": [{"name", "op", "from", "to", "why": [...]}]}
nlohmann::ordered_json MovesJson(const std::vector<Move>& moves);

// {"nodes": [{"name", "op", "target", "why_not": [{"target", "reason"}]}],
//  "regions": N, "copies": N,
//  "states": [{"name", "type", "result", "is_rewritten"}]}; no states where
// there are none.
nlohmann::ordered_json PlacementJson(const Placement& placement);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_PLACEMENT_REPORT_H_
