// place_on_devices: values where they are wanted. What a function of a target
// with a device reads is copied to the device, and what others read is copied
// back, each value once; constants stay there from the beginning.
//
//   %a = @fused_add(%x, %w)            %x.npu = device_copy(%x) {to="npu"}
//   %b = @npu_mul(%a, %a)      ->      %b = …
//   output %b                          %b.cpu = device_copy(%b)
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

// The keys of the devices that functions run on, by function.
std::map<std::string, std::string> KeysOf(const Module& module,
                                          const PassContext& context) {
  std::map<std::string, std::string> keys;
  for (const auto& function : module.functions()) {
    const std::string id = TargetOf(function->attrs);
    for (const TargetChoice& choice : context.targets) {
      if (!choice.kind->device.empty() && choice.target.Id() == id) {
        keys[function->name] =
            choice.device_key.empty() ? choice.target.key : choice.device_key;
      }
    }
  }
  return keys;
}

// One function whose calls are in order.
class Placer {
 public:
  Placer(Function* function, const std::map<std::string, std::string>& keys)
      : function_(function), keys_(keys) {}

  absl::StatusOr<bool> Run() {
    std::vector<Node*> nodes;
    for (const auto& node : function_->nodes()) nodes.push_back(node.get());
    for (Node* node : nodes) {
      if (node->kind == NodeKind::kOp && node->IsView()) {
        // A view is where its operand is.
        places_[node] = PlaceOf(node->inputs[0]);
        continue;
      }
      const auto key = node->kind == NodeKind::kCallFunction
                           ? keys_.find(node->callee)
                           : keys_.end();
      const std::string place = key == keys_.end() ? "" : key->second;
      for (Value& input : node->inputs) {
        if (input.node == nullptr) continue;
        INGOT_ASSIGN_OR_RETURN(input, At(place, input));
      }
      places_[node] = place;
    }
    for (Value& output : function_->outputs) {
      const Value from = output;
      INGOT_ASSIGN_OR_RETURN(output, At("", from));
      if (output == from) continue;
      // Results keep their names. One that is a result twice has one copy.
      if (!renamed_.insert(output.node).second) continue;
      output.node->name = from.node->name;
      from.node->name = function_->UniqueName(
          absl::StrCat(from.node->name, ".", PlaceOf(from)));
    }
    if (copies_.empty()) return false;
    INGOT_RETURN_IF_ERROR(function_->Sort());
    return true;
  }

 private:
  const std::string& PlaceOf(const Value& value) const {
    static const auto* const kCpu = new std::string;
    const auto place = places_.find(value.node);
    return place == places_.end() ? *kCpu : place->second;
  }

  // The value itself, or its copy at a place. From one device to another it
  // goes through the CPU.
  absl::StatusOr<Value> At(const std::string& place, Value value) {
    const std::string from = PlaceOf(value);
    if (from == place) return value;
    if (!from.empty() && !place.empty()) {
      INGOT_ASSIGN_OR_RETURN(value, At("", value));
    }
    auto [copy, is_new] = copies_.try_emplace({value, place});
    if (!is_new) return copy->second;
    Attrs attrs;
    if (!place.empty()) attrs.Set("to", place);
    INGOT_ASSIGN_OR_RETURN(
        Node * node,
        function_->AddOp(
            "device_copy",
            absl::StrCat(value.node->name, ".", place.empty() ? "cpu" : place),
            {value}, std::move(attrs)));
    node->sources.Add(value.node->sources);
    places_[node] = place;
    copy->second = Value{node};
    return copy->second;
  }

  Function* const function_;
  const std::map<std::string, std::string>& keys_;
  std::map<const Node*, std::string> places_;  // those not on the CPU, and all
  std::map<std::pair<Value, std::string>, Value> copies_;
  std::set<const Node*> renamed_;  // copies that are results
};

}  // namespace

absl::StatusOr<bool> PlaceOnDevices(Module* module, PassContext* context) {
  const std::map<std::string, std::string> keys = KeysOf(*module, *context);
  if (keys.empty()) return false;
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    INGOT_ASSIGN_OR_RETURN(const bool now, Placer(function.get(), keys).Run());
    changed |= now;
  }
  return changed;
}

}  // namespace ingot::relay
