#include "compiler/relay/passes/quantized_operands.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

bool TakesDequantized(const PassContext& context) {
  return std::any_of(
      context.targets.begin(), context.targets.end(),
      [](const TargetChoice& t) { return t.kind->takes_dequantized; });
}

absl::StatusOr<bool> UnshareDequantize(Function* function) {
  std::vector<Node*> nodes;
  for (const auto& node : function->nodes()) nodes.push_back(node.get());
  std::set<Node*> used;  // by one operator already
  bool changed = false;
  for (Node* node : nodes) {
    for (Value& input : node->inputs) {
      Node* const from = input.node;
      if (from == nullptr || from->kind != NodeKind::kOp ||
          !from->op->Has(kDequantizes) || used.insert(from).second) {
        continue;
      }
      INGOT_ASSIGN_OR_RETURN(
          Node * copy, function->AddOp(from->op->name, from->name, from->inputs,
                                       from->attrs));
      copy->sources = from->sources;
      input = Value{copy};
      changed = true;
    }
  }
  return changed;
}

}  // namespace ingot::relay
