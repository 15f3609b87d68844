// simplify: rewriting by the rules of the simplify_*.cc files until none fits.
#include "compiler/relay/passes/simplify.h"

#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {

std::vector<RuleTable> AllRuleTables() {
  std::vector<RuleTable> tables = {{"fold_batch_norm", BatchNormRules()},
                                   {"byte_products", QuantizedMoveRules()},
                                   {"byte_products", ByteProductRules()},
                                   {"byte_products", WideProductRules()},
                                   {"byte_products", ByteProductOfTwoRules()},
                                   {"join_attention", AttentionRules()},
                                   {"block_layout", PlaneRules()},
                                   {"block_layout", WideSumRules()}};
  for (absl::Span<const Rule> rules :
       {ShapeRules(), IndexingRules(), ArithmeticRules(), WindowRules(),
        PatternRules(), ProjectionRules(), EinsumRules()}) {
    tables.push_back({"simplify", rules});
  }
  return tables;
}

absl::StatusOr<bool> Simplify(Module* module, PassContext*) {
  std::vector<Rule> rules;
  for (const RuleTable& table : AllRuleTables()) {
    if (absl::string_view(table.pass) != "simplify") continue;
    rules.insert(rules.end(), table.rules.begin(), table.rules.end());
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
