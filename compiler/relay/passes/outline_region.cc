#include "compiler/relay/passes/outline_region.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

// A name for a function that becomes part of symbols and file names.
std::string UnusedName(const Module& module, absl::string_view stem) {
  std::string clean;
  for (char c : stem) clean += absl::ascii_isalnum(c) ? c : '_';
  for (int n = 0;; ++n) {
    std::string name = absl::StrCat(clean, "_", n);
    if (module.Find(name) == nullptr) return name;
  }
}

// Copies a call into `into`, its operands looked up in `inside`.
absl::StatusOr<Node*> Copy(const Node& node,
                           const std::map<Value, Value>& inside,
                           Function* into) {
  std::vector<Value> inputs;
  for (const Value& input : node.inputs) {
    inputs.push_back(input.node == nullptr ? Value{} : inside.at(input));
  }
  Attrs attrs = node.attrs;
  attrs.Erase("target");
  INGOT_ASSIGN_OR_RETURN(
      Node * copy, into->AddOp(node.op->name, node.name, std::move(inputs),
                               std::move(attrs)));
  copy->outputs = node.outputs;
  copy->sources = node.sources;
  return copy;
}

void MapResults(const Node* from, Node* to, std::map<Value, Value>* map) {
  for (size_t i = 0; i < from->outputs.size(); ++i) {
    const int index = static_cast<int>(i);
    (*map)[Value{const_cast<Node*>(from), index}] = Value{to, index};
  }
}

// A function that computes the composite, and a call of it in `region`.
absl::StatusOr<Node*> AddComposite(Module* module, const RegionUnit& unit,
                                   const std::map<Value, Value>& in_region,
                                   Function* region) {
  Function* composite = module->AddFunction(
      UnusedName(*module, absl::StrCat(region->name, "_", unit.composite)));
  composite->attrs.Set("composite", unit.composite);
  std::set<const Node*> members(unit.nodes.begin(), unit.nodes.end());
  std::map<Value, Value> inside;
  std::vector<Value> operands;
  for (const Node* node : unit.nodes) {
    for (const Value& input : node->inputs) {
      if (input.node == nullptr || members.count(input.node) > 0 ||
          inside.count(input) > 0) {
        continue;
      }
      Node* parameter =
          composite->AddInput(absl::StrCat("p", operands.size()), input.type());
      inside[input] = Value{parameter};
      operands.push_back(in_region.at(input));
    }
  }
  for (const Node* node : unit.nodes) {
    INGOT_ASSIGN_OR_RETURN(Node * copy, Copy(*node, inside, composite));
    MapResults(node, copy, &inside);
  }
  const Node* root = unit.nodes.back();
  composite->outputs = {inside.at(Value{const_cast<Node*>(root)})};
  Node* call = region->AddCall(composite->name, root->name, std::move(operands),
                               root->outputs);
  for (const Node* node : unit.nodes) call->sources.Add(node->sources);
  return call;
}

}  // namespace

absl::Status OutlineRegion(Module* module, Function* function,
                           const Region& region, absl::string_view stem,
                           absl::string_view key, bool owns_constants) {
  Function* outlined = module->AddFunction(UnusedName(*module, stem));
  outlined->attrs.Set("target", std::string(key));
  std::set<const Node*> members;
  for (const RegionUnit& unit : region.units) {
    members.insert(unit.nodes.begin(), unit.nodes.end());
  }
  std::map<Value, Value> inside;
  std::vector<Value> operands;
  auto enter = [&](const Value& value) {
    if (value.node == nullptr || members.count(value.node) > 0 ||
        inside.count(value) > 0) {
      return;
    }
    const Tensor* constant = ConstantOf(value);
    if (constant != nullptr &&
        (owns_constants || constant->NumElements() == 1)) {
      inside[value] = Value{outlined->AddConstant(value.node->name, *constant)};
      return;
    }
    inside[value] = Value{outlined->AddInput(value.node->name, value.type())};
    operands.push_back(value);
  };
  for (const RegionUnit& unit : region.units) {
    for (const Node* node : unit.nodes) {
      for (const Value& input : node->inputs) enter(input);
    }
    Node* made = nullptr;
    if (unit.composite.empty()) {
      INGOT_ASSIGN_OR_RETURN(made, Copy(*unit.nodes[0], inside, outlined));
    } else {
      INGOT_ASSIGN_OR_RETURN(made,
                             AddComposite(module, unit, inside, outlined));
    }
    MapResults(unit.nodes.back(), made, &inside);
  }

  // The values that are read outside, in the order of the region's units.
  std::set<Value> read;
  for (const auto& node : function->nodes()) {
    if (members.count(node.get()) > 0) continue;
    read.insert(node->inputs.begin(), node->inputs.end());
  }
  read.insert(function->outputs.begin(), function->outputs.end());
  std::vector<Value> results;
  std::vector<TensorType> types;
  for (const RegionUnit& unit : region.units) {
    Node* root = unit.nodes.back();
    for (size_t i = 0; i < root->outputs.size(); ++i) {
      const Value value{root, static_cast<int>(i)};
      if (read.count(value) == 0) continue;
      results.push_back(value);
      types.push_back(root->outputs[i]);
      outlined->outputs.push_back(inside.at(value));
    }
  }
  Node* call = function->AddCall(outlined->name, outlined->name,
                                 std::move(operands), std::move(types));
  for (const RegionUnit& unit : region.units) {
    for (const Node* node : unit.nodes) call->sources.Add(node->sources);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    function->ReplaceUses(results[i], Value{call, static_cast<int>(i)});
  }
  function->RemoveDead();
  return absl::OkStatus();
}

}  // namespace ingot::relay
