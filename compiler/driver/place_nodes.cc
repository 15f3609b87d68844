#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/target_keys.h"
#include "base/status_macros.h"
#include "compiler/driver/stages.h"
#include "compiler/relay/op.h"

namespace ingot {
namespace {

// Says which targets would take a node that none of the list took.
std::string WhoTakes(const Compilation& c, const relay::Node& node) {
  for (const TargetKind* kind : c.kinds.All()) {
    const Target target{kDefaultTargetKey, kind->name, {}};
    if (!kind->HasRegions() || !c.kinds.Check(target).ok() ||
        !kind->Takes(target, node).ok()) {
      continue;
    }
    std::string list = kind->name;
    for (const TargetWork& work : c.targets) {
      if (work.kind == kind) {
        return absl::StrCat("target ", kind->name, " takes it");
      }
      absl::StrAppend(&list, ",", work.target.ToString());
    }
    return absl::StrCat("compile with --target=", list);
  }
  return "no target that is built in takes it";
}

// Operators that Ingot does not define itself are in the regions of targets.
absl::Status CheckComputable(Compilation* c) {
  for (const auto& function : c->module->functions()) {
    if (function->attrs.Has("composite")) continue;
    for (const auto& node : function->nodes()) {
      if (node->kind != relay::NodeKind::kOp || !node->op->BackendOnly()) {
        continue;
      }
      INGOT_ASSIGN_OR_RETURN(TargetWork * work, c->OwnerOf(*function));
      if (work->kind->HasRegions()) continue;
      return absl::UnimplementedError(
          absl::StrCat("node '", c->SourcesOf(*function), "': ", node->op->name,
                       " is not for target ", work->target.ToString(), "; ",
                       WhoTakes(*c, *node)));
    }
  }
  return absl::OkStatus();
}

// The Id of the target that the option `strict` means.
absl::StatusOr<std::string> StrictTarget(const Compilation& c) {
  std::vector<std::string> known;
  for (const TargetWork& work : c.targets) {
    if (work.target.Id() == c.options.strict ||
        work.target.kind == c.options.strict) {
      return work.target.Id();
    }
    known.push_back(work.target.Id());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("strict target '", c.options.strict,
                   "' is none of the targets: ", absl::StrJoin(known, ", ")));
}

}  // namespace

absl::StatusOr<Placement> PlaceNodes(Compilation* c) {
  INGOT_RETURN_IF_ERROR(CheckComputable(c));
  Placement placement =
      FindPlacement(*c->module, c->host == nullptr ? "" : c->host->target.Id(),
                    c->context.refusals);
  if (!c->options.strict.empty()) {
    INGOT_ASSIGN_OR_RETURN(const std::string strict, StrictTarget(*c));
    INGOT_RETURN_IF_ERROR(CheckStrict(placement, strict));
  }
  return placement;
}

}  // namespace ingot
