#ifndef INGOT_TOOLS_INGOT_PLACEMENT_REPORT_H_
#define INGOT_TOOLS_INGOT_PLACEMENT_REPORT_H_

#include <string>

#include "compiler/driver/placement.h"
#include "nlohmann/json.hpp"

namespace ingot {

// A few lines: how many nodes each target took, and for each reason why one did
// not take others, how many and which.
std::string PlacementSummary(const Placement& placement);

// A table with one row per node.
std::string PlacementTable(const Placement& placement);

// {"nodes": [{"name", "op", "target", "why_not": [{"target", "reason"}]}],
//  "regions": N}
nlohmann::ordered_json PlacementJson(const Placement& placement);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_PLACEMENT_REPORT_H_
