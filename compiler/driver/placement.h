// Says which target takes each node of the model, and why the others do not.
#ifndef INGOT_COMPILER_DRIVER_PLACEMENT_H_
#define INGOT_COMPILER_DRIVER_PLACEMENT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/pass.h"

namespace ingot {

// The placement of nodes that cost nothing at run time: computed while
// compiling, part of another node, a mere change of shape, or needed by no
// output.
inline constexpr char kFolded[] = "folded";

struct NodePlacement {
  std::string name;    // the model's own
  std::string op;      // "Conv"
  std::string target;  // Target::Id, "a+b" for several, or kFolded
  std::vector<relay::Refusal> why_not;
};

// A value that stays from run to run.
struct StatePlacement {
  std::string name, type;     // of the model's input
  std::string result;         // the output that is its next value
  bool is_rewritten = false;  // as a whole, in each run
};

struct Placement {
  std::vector<NodePlacement> nodes;    // in the model's order
  std::vector<StatePlacement> states;  // in the order of inputs
  int regions = 0;                     // calls of functions of other targets
                                       // than the host
  int copies = 0;  // of values to or from a device, in each run
};

// Reads the placement off `module` after all passes. `host` owns what no
// function's target says.
Placement FindPlacement(
    const relay::Module& module, absl::string_view host,
    const std::map<std::string, std::vector<relay::Refusal>>& refusals);

// FailedPrecondition names the nodes that are not on `target`, with the
// reasons.
absl::Status CheckStrict(const Placement& placement, absl::string_view target);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_PLACEMENT_H_
