#include "compiler/driver/placement.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/relay/op.h"
#include "compiler/relay/states.h"

namespace ingot {
namespace {

// Errors name at most so many nodes.
constexpr size_t kMaxNamed = 10;

// Whether the kernel that makes the state's next value writes all of it.
bool WritesAll(const relay::Module& module, const relay::Value& next) {
  const relay::Function* kernel = module.Find(next.node->callee);
  if (kernel == nullptr || relay::UpdatedInput(*kernel) < 0) return true;
  const relay::Node& update = *kernel->outputs[0].node;
  return relay::SameShape(update.inputs[1].type().shape,
                          update.outputs[0].shape);
}

std::vector<StatePlacement> PlaceStates(const relay::Module& module) {
  std::vector<StatePlacement> states;
  const relay::Function& main = *module.main();
  for (const relay::State& state : relay::StatesOf(main)) {
    const relay::Node& input = *main.inputs[state.input];
    states.push_back({input.name, relay::ToString(input.outputs[0]),
                      main.output_names[state.output],
                      WritesAll(module, main.outputs[state.output])});
  }
  return states;
}

}  // namespace

Placement FindPlacement(
    const relay::Module& module, absl::string_view host,
    const std::map<std::string, std::vector<relay::Refusal>>& refusals) {
  Placement placement;
  std::map<std::string, std::set<std::string>> targets;
  for (const auto& function : module.functions()) {
    if (function->attrs.Has("primitive") || function->attrs.Has("target") ||
        function->attrs.Has("composite")) {
      continue;
    }
    for (const auto& node : function->nodes()) {
      if (node->kind == relay::NodeKind::kOp &&
          node->op->step == relay::ExecutorStep::kCopy &&
          node->inputs[0].node->kind != relay::NodeKind::kConstant) {
        ++placement.copies;
      }
      if (node->kind != relay::NodeKind::kCallFunction) continue;
      const relay::Function* callee = module.Find(node->callee);
      std::string owner = relay::TargetOf(callee->attrs);
      if (owner.empty()) owner = std::string(host);
      if (owner != host) ++placement.regions;
      for (const std::string& s : node->sources) targets[s].insert(owner);
    }
  }
  for (const relay::ModelNode& node : module.model_nodes) {
    NodePlacement placed{node.name, node.op, kFolded, {}};
    auto found = targets.find(node.name);
    if (found != targets.end()) {
      placed.target = absl::StrJoin(found->second, "+");
      auto refused = refusals.find(node.name);
      if (refused != refusals.end()) placed.why_not = refused->second;
    }
    placement.nodes.push_back(std::move(placed));
  }
  placement.states = PlaceStates(module);
  return placement;
}

absl::Status CheckStrict(const Placement& placement, absl::string_view target) {
  std::vector<std::string> elsewhere;
  size_t count = 0;
  for (const NodePlacement& node : placement.nodes) {
    if (node.target == kFolded || node.target == target) continue;
    if (++count > kMaxNamed) continue;
    std::string line =
        absl::StrCat(node.name, " (", node.op, ") is on ", node.target);
    for (const relay::Refusal& refusal : node.why_not) {
      absl::StrAppend(&line, "; ", refusal.target, ": ", refusal.reason);
    }
    elsewhere.push_back(std::move(line));
  }
  if (count == 0) return absl::OkStatus();
  if (count > kMaxNamed) {
    elsewhere.push_back(absl::StrCat("and ", count - kMaxNamed, " more"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(count, " nodes are not on ", target, ": ",
                   absl::StrJoin(elsewhere, "; ")));
}

}  // namespace ingot
