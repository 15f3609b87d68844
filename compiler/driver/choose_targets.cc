#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "artifact/target_keys.h"
#include "base/status_macros.h"
#include "compiler/driver/stages.h"
#include "compiler/relay/op.h"

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
    if (!work.kind->IsHost() || &work == c.host ||
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

// Whether a target of the list has the kind, or the name that it would get.
bool IsListed(const Compilation& c, const TargetKind& kind) {
  return std::any_of(
      c.targets.begin(), c.targets.end(), [&](const TargetWork& work) {
        return work.kind == &kind || work.target.Id() == kind.name;
      });
}

// Whether the target takes an operator that has no definition of its own and
// that no target of the list takes.
bool IsNeeded(const Compilation& c, const Target& target,
              const TargetKind& kind) {
  for (const auto& function : c.module->functions()) {
    for (const auto& node : function->nodes()) {
      if (node->kind != relay::NodeKind::kOp || !node->op->BackendOnly()) {
        continue;
      }
      const bool is_taken = std::any_of(
          c.targets.begin(), c.targets.end(), [&](const TargetWork& work) {
            return !work.kind->IsHost() &&
                   work.kind->Takes(work.target, *node).ok();
          });
      if (!is_taken && kind.Takes(target, *node).ok()) return true;
    }
  }
  return false;
}

absl::StatusOr<TargetWork> WorkFor(const Compilation& c, const Target& target) {
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, c.kinds.Find(target.kind));
  INGOT_ASSIGN_OR_RETURN(MachineModel machine, kind->MachineOf(target));
  return TargetWork{target, kind, std::move(machine), {}};
}

// Adds kinds of last resort after the others that have regions. They call
// libraries, which do not promise the same bits everywhere.
absl::Status AddLastResorts(Compilation* c) {
  for (const TargetWork& work : c->targets) {
    if (work.machine.reproducible) return absl::OkStatus();
  }
  for (const TargetKind* kind : c->kinds.All()) {
    const Target target{kDefaultTargetKey, kind->name, {}};
    if (!kind->last_resort || IsListed(*c, *kind) ||
        !IsNeeded(*c, target, *kind)) {
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(TargetWork work, WorkFor(*c, target));
    const auto host = std::find_if(
        c->targets.begin(), c->targets.end(),
        [](const TargetWork& other) { return other.kind->IsHost(); });
    c->targets.insert(host, std::move(work));
  }
  return absl::OkStatus();
}

// Says on whose device the functions of each target run.
void ShareDevices(std::vector<TargetWork>* targets) {
  for (TargetWork& work : *targets) {
    const std::string& device = work.kind->device;
    work.device_key = work.target.key;
    if (device.empty() || work.kind->name == device) continue;
    const auto is_owner = [&](const TargetWork& other) {
      return other.kind->device == device && other.kind->name == device;
    };
    const auto is_like = [&](const TargetWork& other) {
      return other.kind->device == device;
    };
    auto owner = std::find_if(targets->begin(), targets->end(), is_owner);
    if (owner == targets->end()) {
      owner = std::find_if(targets->begin(), targets->end(), is_like);
    }
    work.device_key = owner->target.key;
  }
}

}  // namespace

absl::Status ChooseTargets(Compilation* c) {
  INGOT_RETURN_IF_ERROR(c->kinds.CheckList(c->options.targets));
  for (const Target& target : c->options.targets) {
    INGOT_ASSIGN_OR_RETURN(TargetWork work, WorkFor(*c, target));
    // A device serves one key, which is not the CPU's.
    if (!work.kind->device.empty() && target.key == kDefaultTargetKey) {
      work.target.key = target.kind;
    }
    c->targets.push_back(std::move(work));
  }
  INGOT_RETURN_IF_ERROR(AddLastResorts(c));
  ShareDevices(&c->targets);
  for (TargetWork& work : c->targets) {
    c->context.targets.push_back({work.target, work.kind, work.device_key});
    if (c->host == nullptr && work.kind->IsHost()) c->host = &work;
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
