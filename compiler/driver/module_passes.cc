#include "compiler/driver/module_passes.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/verifier.h"

namespace ingot {
namespace {

std::vector<relay::Function*> RegionsOf(const relay::Module& module,
                                        const std::string& target) {
  std::vector<relay::Function*> regions;
  for (const auto& function : module.functions()) {
    // A composite is part of the regions that call it.
    if (!function->attrs.Has("composite") &&
        relay::TargetOf(function->attrs) == target) {
      regions.push_back(function.get());
    }
  }
  return regions;
}

}  // namespace

absl::Status RunModulePasses(
    absl::Span<const relay::TargetChoice> targets,
    const std::function<bool(absl::string_view)>& should_run,
    relay::Module* module, IrDump* dump) {
  for (const relay::TargetChoice& choice : targets) {
    for (const ModulePass& pass : choice.kind->module_passes) {
      const std::vector<relay::Function*> regions =
          RegionsOf(*module, choice.target.Id());
      if (regions.empty()) break;
      if (should_run != nullptr &&
          !should_run(absl::StrCat(choice.kind->name, ".", pass.name))) {
        continue;
      }
      absl::StatusOr<bool> changed = pass.run(choice.target, regions, module);
      absl::Status status = changed.status();
      if (status.ok() && *changed) status = relay::Verify(*module);
      if (!status.ok()) {
        return absl::Status(
            status.code(),
            absl::StrCat("target ", choice.target.ToString(), ", pass ",
                         pass.name, ": ", status.message()));
      }
      if (*changed) INGOT_RETURN_IF_ERROR(dump->Write(pass.name, *module));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot
