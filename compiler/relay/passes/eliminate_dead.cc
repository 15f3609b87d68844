// eliminate_dead removes nodes that no output needs, and functions without
// callers.
#include <set>
#include <string>

#include "compiler/relay/passes/passes.h"

namespace ingot::relay {

absl::StatusOr<bool> EliminateDead(Module* module, PassContext*) {
  bool changed = false;
  for (const auto& function : module->functions()) {
    changed |= function->RemoveDead() > 0;
  }
  const Function* main = module->main();
  if (main == nullptr) return changed;
  std::set<std::string> called = {main->name};
  std::vector<const Function*> work = {main};
  while (!work.empty()) {
    const Function* function = work.back();
    work.pop_back();
    for (const auto& node : function->nodes()) {
      for (const std::string& name : node->Callees()) {
        if (!called.insert(name).second) continue;
        if (const Function* callee = module->Find(name)) {
          work.push_back(callee);
        }
      }
    }
  }
  std::vector<std::string> uncalled;
  for (const auto& function : module->functions()) {
    if (called.count(function->name) == 0) uncalled.push_back(function->name);
  }
  for (const std::string& name : uncalled) module->RemoveFunction(name);
  return changed || !uncalled.empty();
}

}  // namespace ingot::relay
