#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/driver/stages.h"

namespace ingot {
namespace {

// Checks that something is pinned to each target that takes every operator, but
// the first: it would get nothing else.
absl::Status CheckHosts(const Compilation& c) {
  std::set<std::string> pinned;
  for (const auto& [node, target] : c.options.pins) pinned.insert(target);
  for (const auto& function : c.module->functions()) {
    for (const auto& node : function->nodes()) {
      pinned.insert(relay::TargetOf(node->attrs));
    }
  }
  for (const TargetWork& work : c.targets) {
    if (work.kind->HasRegions() || &work == c.host ||
        pinned.count(work.target.Id()) > 0 ||
        pinned.count(work.target.kind) > 0) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        work.target.Id(), " gets nothing, because ", c.host->target.Id(),
        " in front of it takes every operator and no node is pinned to ",
        work.target.Id(), "; pin one, or leave it out"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ChooseTargets(Compilation* c) {
  INGOT_RETURN_IF_ERROR(c->kinds.CheckList(c->options.targets));
  for (const Target& target : c->options.targets) {
    INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, c->kinds.Find(target.kind));
    INGOT_ASSIGN_OR_RETURN(MachineModel machine, kind->MachineOf(target));
    c->targets.push_back({target, kind, std::move(machine), {}});
    c->context.targets.push_back({target, kind});
  }
  for (TargetWork& work : c->targets) {
    if (c->host == nullptr && !work.kind->HasRegions()) c->host = &work;
  }
  return absl::OkStatus();
}

absl::Status CheckPins(Compilation* c) {
  for (const auto& [node, target] : c->options.pins) {
    bool found = false;
    for (const relay::ModelNode& n : c->module->model_nodes) {
      found = found || n.name == node;
    }
    if (!found) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the model has no node '", node, "', which is pinned to ", target));
    }
  }
  c->context.pins = c->options.pins;
  return CheckHosts(*c);
}

}  // namespace ingot
