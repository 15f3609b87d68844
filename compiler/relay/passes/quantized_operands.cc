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

namespace {

// Of those that `may_copy` accepts.
template <typename F>
absl::StatusOr<bool> Unshare(Function* function, const F& may_copy) {
  std::vector<Node*> nodes;
  for (const auto& node : function->nodes()) nodes.push_back(node.get());
  std::set<Node*> used;  // by one operator already
  bool changed = false;
  for (Node* node : nodes) {
    for (Value& input : node->inputs) {
      Node* const from = input.node;
      if (from == nullptr || from->kind != NodeKind::kOp || !may_copy(from) ||
          used.insert(from).second) {
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

}  // namespace

absl::StatusOr<bool> UnshareDequantize(Function* function) {
  return Unshare(function,
                 [](const Node* node) { return node->op->Has(kDequantizes); });
}

absl::Status UnshareDequantize(Function* function,
                               const std::vector<Node*>& shared) {
  const std::set<const Node*> wanted(shared.begin(), shared.end());
  INGOT_RETURN_IF_ERROR(Unshare(function, [&](const Node* node) {
                          return wanted.count(node) > 0;
                        }).status());
  return function->Sort();
}

}  // namespace ingot::relay
