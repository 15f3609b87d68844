// simplify: rewriting by the rules of the simplify_*.cc files until none fits.
#include "compiler/relay/passes/simplify.h"

#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/status_macros.h"

namespace ingot::relay {

absl::StatusOr<bool> Simplify(Module* module, PassContext*) {
  std::vector<Rule> rules;
  for (absl::Span<const Rule> table :
       {ShapeRules(), ArithmeticRules(), WindowRules(), PatternRules()}) {
    rules.insert(rules.end(), table.begin(), table.end());
  }
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    INGOT_ASSIGN_OR_RETURN(bool now, ApplyRules(function.get(), rules));
    changed |= now;
  }
  return changed;
}

}  // namespace ingot::relay
