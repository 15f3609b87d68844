#include "compiler/relay/passes/pass.h"

#include <utility>

#include "base/status_macros.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/verifier.h"

namespace ingot::relay {

const std::vector<Pass>& AllPasses() {
  static const auto* const kAll = [] {
    auto* all = new std::vector<Pass>;
    for (const PassRow& row : kPasses) {
      all->push_back({row.name, row.doc, row.run});
    }
    return all;
  }();
  return *kAll;
}

std::vector<std::string> DefaultPasses(int opt_level) {
  const absl::Span<const char* const> names =
      opt_level <= 0   ? absl::Span<const char* const>(kPassesOfLevel0)
      : opt_level == 1 ? absl::Span<const char* const>(kPassesOfLevel1)
                       : absl::Span<const char* const>(kPassesOfLevel2);
  return {names.begin(), names.end()};
}

absl::Status AskForLayouts(PassContext* context) {
  bool has_host = false;
  for (const TargetChoice& choice : context->targets) {
    const bool is_host = choice.kind->IsHost();
    if ((is_host && has_host) || (!is_host && choice.kind->device.empty())) {
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(LayoutPreferences layouts,
                           choice.kind->LayoutsOf(choice.target));
    if (is_host) {
      context->layouts = std::move(layouts);
      has_host = true;
    } else {
      context->device_layouts[choice.target.Id()] = std::move(layouts);
    }
  }
  return absl::OkStatus();
}

absl::Status RunPasses(absl::Span<const std::string> names, Module* module,
                       PassContext* context, const PassOptions& options) {
  INGOT_ASSIGN_OR_RETURN(const std::vector<const Pass*> passes,
                         FindPasses(AllPasses(), names));
  return ingot::RunPasses(absl::MakeConstSpan(passes), &Verify, options, module,
                          context);
}

}  // namespace ingot::relay
