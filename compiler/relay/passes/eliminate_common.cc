// eliminate_common: of several nodes that compute the same, the first stays.
#include <cstring>
#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"

namespace ingot::relay {
namespace {

absl::string_view Bytes(const Tensor& tensor) {
  return absl::string_view(static_cast<const char*>(tensor.raw_data()),
                           tensor.bytes());
}

bool SameConstant(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.raw_data() == b.raw_data() || Bytes(a) == Bytes(b));
}

class FunctionCommon {
 public:
  explicit FunctionCommon(Function* function) : function_(function) {}

  bool Run() {
    for (const auto& node : function_->nodes()) {
      for (Value& input : node->inputs) Redirect(&input);
      if (node->kind == NodeKind::kConstant) {
        VisitConstant(node.get());
      } else if (node->kind == NodeKind::kOp) {
        VisitOp(node.get());
      }
    }
    for (Value& output : function_->outputs) Redirect(&output);
    if (!same_as_.empty()) function_->RemoveDead();
    return !same_as_.empty();
  }

 private:
  void Redirect(Value* value) {
    auto it = same_as_.find(value->node);
    if (it != same_as_.end()) value->node = it->second;
  }

  void Merge(Node* node, Node* first) {
    same_as_[node] = first;
    first->sources.Add(node->sources);
  }

  void VisitConstant(Node* node) {
    const size_t hash = absl::HashOf(Bytes(*node->constant));
    for (Node* other : constants_[hash]) {
      if (SameConstant(*other->constant, *node->constant)) {
        same_as_[node] = other;
        return;
      }
    }
    constants_[hash].push_back(node);
  }

  void VisitOp(Node* node) {
    std::string key = absl::StrCat(node->op->name, Print(node->attrs));
    for (const Value& input : node->inputs) {
      absl::StrAppend(&key, ";", reinterpret_cast<uintptr_t>(input.node), "#",
                      input.index);
    }
    auto [it, added] = ops_.emplace(std::move(key), node);
    if (added) return;
    // Attributes with equal text may hold different symbols of one name only
    // across modules; types agree all the same.
    const Node& first = *it->second;
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      if (!Agrees(first.outputs[i], node->outputs[i])) return;
    }
    Merge(node, it->second);
  }

  Function* function_;
  absl::flat_hash_map<const Node*, Node*> same_as_;
  absl::flat_hash_map<size_t, std::vector<Node*>> constants_;
  std::map<std::string, Node*> ops_;
};

}  // namespace

absl::StatusOr<bool> EliminateCommon(Module* module, PassContext*) {
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    changed |= FunctionCommon(function.get()).Run();
  }
  return changed;
}

}  // namespace ingot::relay
