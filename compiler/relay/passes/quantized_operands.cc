#include "compiler/relay/passes/quantized_operands.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

bool TakesDequantized(const PassContext& context) {
  for (const TargetChoice& choice : context.targets) {
    for (const CompositePattern& pattern : choice.kind->patterns) {
      if (absl::StrContains(pattern.pattern.ToString(), "dequantize(const")) {
        return true;
      }
    }
  }
  return false;
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
          Node * copy,
          function->AddOp(from->op->name, from->name, from->inputs,
                          from->attrs));
      copy->sources = from->sources;
      input = Value{copy};
      changed = true;
    }
  }
  return changed;
}

}  // namespace ingot::relay
