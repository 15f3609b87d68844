// fuse_ops: a module whose functions call kernels.
//
//   %c = conv2d(%x, %w)                func @fused_conv2d_add_relu(...) attrs
//   %s = add(%c, %b)          ->           {primitive=1} { … }
//   %y = relu(%s)                      %y = @fused_conv2d_add_relu(%x, %w, %b)
//
// Views stay: they cost nothing. Constants stay, except single numbers. Kernels
// with the same structure and types are one function, called with different
// constants.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/fusion_groups.h"
#include "compiler/relay/passes/parameter_names.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/printer.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay {
namespace {

constexpr size_t kMaxNameOps = 6;

// The symbols in an expression.
class SymbolFinder final : public tir::ExprVisitor {
 public:
  using tir::ExprVisitor::Visit;
  std::set<std::string> names;

 protected:
  void VisitVar(const tir::Var& var) override { names.insert(var.name); }
};

// Whether the node is one of these or reads what any of them computes, by
// whatever stands between.
bool ReadsAny(const Node& node, const std::vector<Node*>& nodes) {
  const std::set<const Node*> wanted(nodes.begin(), nodes.end());
  std::set<const Node*> seen;
  std::vector<const Node*> work = {&node};
  while (!work.empty()) {
    const Node* at = work.back();
    work.pop_back();
    if (wanted.count(at) > 0) return true;
    if (!seen.insert(at).second) continue;
    for (const Value& input : at->inputs) {
      if (input.node != nullptr) work.push_back(input.node);
    }
  }
  return false;
}

class FunctionFuser {
 public:
  FunctionFuser(Module* module, Function* function,
                std::map<std::string, std::string>* kernels)
      : module_(module), function_(function), kernels_(*kernels) {}

  absl::Status Run(const std::vector<FusionGroup>& groups) {
    for (const FusionGroup& group : groups) {
      INGOT_RETURN_IF_ERROR(Replace(group));
    }
    function_->RemoveDead();
    return function_->Sort();
  }

 private:
  absl::Status Replace(const FusionGroup& group) {
    Node* last = group.nodes.back();
    std::vector<Value> operands;
    INGOT_ASSIGN_OR_RETURN(std::string callee, MakeKernel(group, &operands));
    Node* call = function_->AddCall(callee, last->name, std::move(operands),
                                    last->outputs);
    // The call is what people look for under the name; the node goes.
    std::swap(call->name, last->name);
    for (const Node* node : group.nodes) call->sources.Add(node->sources);
    for (size_t i = 0; i < last->outputs.size(); ++i) {
      const int index = static_cast<int>(i);
      replaced_[Value{last, index}] = Value{call, index};
    }
    // Nodes that are not in a group of their own yet still read `last`.
    function_->ReplaceUses(Value{last, 0}, Value{call, 0});
    for (size_t i = 1; i < last->outputs.size(); ++i) {
      const int index = static_cast<int>(i);
      function_->ReplaceUses(Value{last, index}, Value{call, index});
    }
    return absl::OkStatus();
  }

  // Finds or makes the function that computes the group, and lists what it is
  // called with.
  absl::StatusOr<std::string> MakeKernel(const FusionGroup& group,
                                         std::vector<Value>* operands) {
    auto kernel = std::make_unique<Function>("");
    std::map<Value, Value> inside;
    auto add_input = [&](const Value& value) {
      Node* input =
          kernel->AddInput(absl::StrCat("p", operands->size()), value.type());
      inside[value] = Value{input};
      operands->push_back(value);
    };
    std::set<const Node*> members(group.nodes.begin(), group.nodes.end());
    for (const Node* node : group.nodes) {
      for (const Value& input : node->inputs) {
        if (input.node == nullptr || members.count(input.node) > 0 ||
            inside.count(input) > 0) {
          continue;
        }
        const Tensor* constant = ConstantOf(input);
        // One element of a constant is part of a kernel; more are its
        // parameter.
        if (constant != nullptr && constant->NumElements() == 1 &&
            node->op->IsPointwise()) {
          inside[input] = Value{kernel->AddConstant("c", *constant)};
        } else {
          add_input(input);
        }
      }
    }
    for (const Value& value : MissingSymbols(group, *operands)) {
      add_input(value);
    }
    for (const Node* node : group.nodes) {
      std::vector<Value> inputs;
      for (const Value& input : node->inputs) {
        inputs.push_back(input.node == nullptr ? Value{} : inside.at(input));
      }
      Attrs attrs = node->attrs;
      attrs.Erase("target");
      INGOT_ASSIGN_OR_RETURN(
          Node * copy, kernel->AddOp(node->op->name, node->op->name,
                                     std::move(inputs), std::move(attrs)));
      copy->outputs = node->outputs;
      for (size_t i = 0; i < node->outputs.size(); ++i) {
        const int index = static_cast<int>(i);
        inside[Value{const_cast<Node*>(node), index}] = Value{copy, index};
      }
    }
    Node* last = inside.at(Value{group.nodes.back()}).node;
    for (size_t i = 0; i < last->outputs.size(); ++i) {
      kernel->outputs.push_back(Value{last, static_cast<int>(i)});
    }
    kernel->attrs.Set("primitive", int64_t{1});
    const Attrs& last_attrs = group.nodes.back()->attrs;
    if (last_attrs.Has("target")) {
      kernel->attrs.Set("target", last_attrs.Get<std::string>("target"));
    }
    // The text without a name is the structure: two that print alike are alike.
    auto [it, added] = kernels_.emplace(Print(*kernel), "");
    if (!added) return it->second;
    it->second = KernelName(group);
    Function* function = module_->AddFunction(it->second);
    const std::string name = it->second;
    *function = std::move(*kernel);
    function->name = name;
    return name;
  }

  std::string KernelName(const FusionGroup& group) const {
    std::string stem = group.nodes.size() > 1 ? "fused" : "";
    for (size_t i = 0; i < group.nodes.size(); ++i) {
      if (i == kMaxNameOps) {
        absl::StrAppend(&stem, "_and_", group.nodes.size() - i, "_more");
        break;
      }
      absl::StrAppend(&stem, stem.empty() ? "" : "_", group.nodes[i]->op->name);
    }
    std::string name = stem;
    for (int n = 1; module_->Find(name) != nullptr; ++n) {
      name = absl::StrCat(stem, "_", n);
    }
    return name;
  }

  // Values, beyond `operands`, whose shapes give the group the symbols that its
  // types and attributes name: a kernel binds a symbol from an operand of which
  // it is a dimension.
  std::vector<Value> MissingSymbols(const FusionGroup& group,
                                    const std::vector<Value>& operands) const {
    SymbolFinder finder;
    auto visit = [&](const Shape& shape) {
      for (const Dim& dim : shape) finder.Visit(dim);
    };
    for (const Value& operand : operands) visit(operand.type().shape);
    for (const Node* node : group.nodes) {
      for (const TensorType& type : node->outputs) visit(type.shape);
      for (const auto& [name, value] : node->attrs.values()) {
        if (const Shape* shape = std::get_if<Shape>(&value)) visit(*shape);
      }
    }
    auto gives = [&](const Value& value) {
      const Shape& shape = value.type().shape;
      return std::any_of(shape.begin(), shape.end(), [&](const Dim& dim) {
        const auto* var = tir::As<tir::Var>(dim);
        return var != nullptr && finder.names.count(var->name) > 0;
      });
    };
    auto forget = [&](const Value& value) {
      for (const Dim& dim : value.type().shape) {
        if (const auto* var = tir::As<tir::Var>(dim)) {
          finder.names.erase(var->name);
        }
      }
    };
    for (const Value& operand : operands) forget(operand);
    std::vector<Value> more;
    // The source of a dimension may be an input, wherever it stands, or a value
    // that is computed before the group's result without any of its nodes.
    for (Node* input : function_->inputs) {
      if (!gives(Value{input})) continue;
      forget(Value{input});
      more.push_back(Value{input});
    }
    for (const auto& node : function_->nodes()) {
      if (finder.names.empty() || node.get() == group.nodes.back()) break;
      for (size_t i = 0; i < node->outputs.size(); ++i) {
        const Value value{node.get(), static_cast<int>(i)};
        auto it = replaced_.find(value);
        // A value inside of a kernel is known by the kernel's call, if it
        // leaves the kernel at all.
        if (it == replaced_.end() && node->IsKernel()) continue;
        if (!gives(value) || ReadsAny(*node, group.nodes)) continue;
        forget(value);
        more.push_back(it == replaced_.end() ? value : it->second);
      }
    }
    return more;
  }

  Module* module_;
  Function* function_;
  std::map<std::string, std::string>& kernels_;  // text -> name
  std::map<Value, Value> replaced_;
};

// Calls the parameters of kernels as the model calls the values that they are
// given; of a kernel with several calls, by what these names share. Only now,
// since kernels that differ in nothing else are one.
void NameParameters(absl::Span<Function* const> functions,
                    const std::map<std::string, std::string>& kernels,
                    Module* module) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [text, name] : kernels) names[name];
  for (const Function* function : functions) {
    for (const auto& node : function->nodes()) {
      const auto it = names.find(node->callee);
      if (node->kind != NodeKind::kCallFunction || it == names.end()) continue;
      std::vector<std::string>& known = it->second;
      const bool is_first = known.empty();
      known.resize(node->inputs.size());
      for (size_t i = 0; i < known.size(); ++i) {
        const Node* operand = node->inputs[i].node;
        const std::string name = operand == nullptr ? "" : operand->name;
        known[i] = is_first ? name : CommonName(known[i], name);
      }
    }
  }
  for (const auto& [callee, known] : names) {
    Function* kernel = module->Find(callee);
    for (size_t i = 0; i < known.size(); ++i) {
      if (known[i].empty() || known[i] == kernel->inputs[i]->name) continue;
      kernel->inputs[i]->name = kernel->UniqueName(known[i]);
    }
  }
}

}  // namespace

absl::StatusOr<bool> FuseOps(Module* module, PassContext* context) {
  std::vector<Function*> functions;
  std::map<std::string, std::string> kernels;
  for (const auto& function : module->functions()) {
    if (!IsFinished(*function)) functions.push_back(function.get());
  }
  bool changed = false;
  for (Function* function : functions) {
    function->RemoveDead();
    INGOT_ASSIGN_OR_RETURN(const std::vector<FusionGroup> groups,
                           MakeFusionGroups(function, context->max_group));
    changed = changed || !groups.empty();
    INGOT_RETURN_IF_ERROR(
        FunctionFuser(module, function, &kernels).Run(groups));
  }
  NameParameters(functions, kernels, module);
  return changed;
}

}  // namespace ingot::relay
