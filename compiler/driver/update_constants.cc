#include "base/status_macros.h"
#include "compiler/driver/stages.h"

namespace ingot {

absl::Status UpdateConstants(Compilation* c) {
  for (const auto& function : c->module->functions()) {
    if (!function->attrs.Has("target")) continue;
    INGOT_ASSIGN_OR_RETURN(TargetWork * work, c->OwnerOf(*function));
    if (work->kind->constant_updater == nullptr) continue;
    INGOT_RETURN_IF_ERROR(
        work->kind->constant_updater(work->target, function.get()));
    // Loops have no loader that would find them; their hook reads them here.
    if (work->kind->relay_to_tir != nullptr) continue;
    for (const auto& node : function->nodes()) {
      if (node->kind != relay::NodeKind::kConstant) continue;
      node->attrs.Set("constant",
                      c->constants->Add(node->name, *node->constant));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot
