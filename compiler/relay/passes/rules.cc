#include "compiler/relay/passes/rules.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/verifier.h"

namespace ingot::relay {
namespace {

// A table whose rules undo each other would go on for ever.
constexpr int kMaxRounds = 64;

// Whether the call has the operands that the rule reads.
bool HasOperands(const Node& node, const Rule& rule) {
  const size_t count = static_cast<size_t>(rule.operands);
  return node.inputs.size() >= count &&
         std::all_of(node.inputs.begin(), node.inputs.begin() + rule.operands,
                     [](const Value& input) { return input.node != nullptr; });
}

// Whether an element of the result is as exact as those it is made of: no sums,
// which are rounded in any order, and no function that takes more than a few
// instructions, whose last bit nothing promises.
bool PassesOn(const OpDef& op) {
  switch (op.fusion) {
    case FusionKind::kInjective:
    case FusionKind::kView:
      return true;
    case FusionKind::kElementwise:
    case FusionKind::kBroadcast:
      return op.Has(kCheap);
    default:
      return false;
  }
}

}  // namespace

RuleContext::RuleContext(Function* function) : function_(function) {
  // Users come after what they use.
  const auto& nodes = function->nodes();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool jumps =
        (*node)->op != nullptr &&
        ((*node)->op->Has(kJumps) ||
         (feed_jumps_.count(node->get()) > 0 && PassesOn(*(*node)->op)));
    for (const Value& input : (*node)->inputs) {
      ++uses_[input];
      if (jumps) feed_jumps_.insert(input.node);
    }
  }
  for (const Value& output : function->outputs) ++uses_[output];
}

int RuleContext::Uses(const Value& value) const {
  auto it = uses_.find(value);
  return it == uses_.end() ? 0 : it->second;
}

absl::StatusOr<Value> RuleContext::Add(absl::string_view op,
                                       std::vector<Value> inputs, Attrs attrs) {
  for (const Value& input : inputs) ++uses_[input];
  return AddFolded(function_, op, node_->name, std::move(inputs),
                   std::move(attrs));
}

absl::StatusOr<Value> RuleContext::AddUnfolded(absl::string_view op,
                                               std::vector<Value> inputs,
                                               Attrs attrs) {
  for (const Value& input : inputs) ++uses_[input];
  INGOT_ASSIGN_OR_RETURN(
      Node * node,
      function_->AddOp(op, node_->name, std::move(inputs), std::move(attrs)));
  return Value{node};
}

absl::StatusOr<Value> RuleContext::AddLike(const Node& old,
                                           std::vector<Value> inputs,
                                           Attrs attrs) {
  INGOT_ASSIGN_OR_RETURN(
      Value value, Add(old.op->name, std::move(inputs), std::move(attrs)));
  // Whoever reads the old node will be gone, and the node with it.
  std::swap(value.node->name, const_cast<Node&>(old).name);
  value.node->sources.Add(old.sources);
  named_.insert(value.node);
  return value;
}

absl::StatusOr<Value> RuleContext::Splat(DataType dtype,
                                         absl::Span<const int64_t> shape,
                                         double value) {
  return AddSplat(function_, absl::StrCat(node_->name, "_value"), dtype, shape,
                  value);
}

absl::StatusOr<bool> ApplyRules(Function* function,
                                absl::Span<const Rule> rules) {
  bool changed = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    RuleContext context(function);
    std::map<Value, Value> replaced;
    auto redirect = [&](Value* value) {
      for (auto it = replaced.find(*value); it != replaced.end();
           it = replaced.find(*value)) {
        *value = it->second;
      }
    };
    // Nodes that rules append are visited in the next round.
    const size_t count = function->nodes().size();
    size_t known = count;
    absl::flat_hash_set<const Node*> appended;
    for (size_t i = 0; i < count; ++i) {
      Node* node = function->nodes()[i].get();
      for (Value& input : node->inputs) redirect(&input);
      // A node that is pinned to a target stays as it is, and so does a step of
      // a run.
      if (node->kind != NodeKind::kOp || node->outputs.size() != 1 ||
          node->IsExecutorStep() || node->attrs.Has("target") ||
          context.Uses(Value{node}) == 0) {
        continue;
      }
      context.node_ = node;
      for (const Rule& rule : rules) {
        if (rule.op[0] != '\0' && node->op->name != rule.op) continue;
        if (!HasOperands(*node, rule)) continue;
        absl::StatusOr<Value> result = rule.apply(context, *node);
        if (!result.ok()) {
          return Annotate(result.status(),
                          absl::StrCat("rule '", rule.name, "' at node %",
                                       QuoteName(node->name)));
        }
        if (result->node == nullptr || *result == Value{node}) continue;
        if (!Agrees(result->type(), node->outputs[0])) {
          return absl::InternalError(absl::StrCat(
              "rule '", rule.name, "' makes ", ToString(result->type()),
              " of node %", QuoteName(node->name), ", which is ",
              ToString(node->outputs[0])));
        }
        replaced[Value{node}] = *result;
        context.uses_[*result] += context.uses_[Value{node}];
        context.uses_[Value{node}] = 0;
        for (const Value& input : node->inputs) --context.uses_[input];
        if (result->node->kind != NodeKind::kInput) {
          result->node->sources.Add(node->sources);
        }
        // The replacement takes the node's name if it was made for the node.
        for (; known < function->nodes().size(); ++known) {
          Node* const part = function->nodes()[known].get();
          appended.insert(part);
          // It computes a part of what the node did, in a kernel of its own
          // perhaps.
          if (part->kind == NodeKind::kOp && part->sources.empty()) {
            part->sources.Add(node->sources);
          }
        }
        const bool made = appended.count(result->node) > 0 &&
                          context.named_.count(result->node) == 0;
        if (made) std::swap(node->name, result->node->name);
        break;
      }
    }
    if (replaced.empty()) return changed;
    changed = true;
    for (Value& output : function->outputs) redirect(&output);
    for (size_t i = count; i < function->nodes().size(); ++i) {
      for (Value& input : function->nodes()[i]->inputs) redirect(&input);
    }
    function->RemoveDead();
    INGOT_RETURN_IF_ERROR(function->Sort());
  }
  return absl::InternalError("rewrite rules do not come to an end");
}

}  // namespace ingot::relay
