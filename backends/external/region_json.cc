#include "backends/external/region_json.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/op.h"
#include "compiler/relay/printer.h"
#include "runtime/tensor.h"

namespace ingot::external {
namespace {

using nlohmann::json;
using relay::Value;

// JSON has no numbers for those that are not finite.
json Number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

json ShapeJson(const relay::Shape& shape) {
  json dims = json::array();
  for (const relay::Dim& dim : shape) {
    const std::optional<std::vector<int64_t>> known = relay::ConstShape({dim});
    dims.push_back(known ? json(known->front())
                         : json(relay::DimToString(dim)));
  }
  return dims;
}

struct AttrToJson {
  json operator()(int64_t value) const { return value; }
  json operator()(double value) const { return Number(value); }
  json operator()(const std::string& value) const { return value; }
  json operator()(const std::vector<int64_t>& value) const { return value; }
  json operator()(const std::vector<double>& value) const {
    json list = json::array();
    for (const double element : value) list.push_back(Number(element));
    return list;
  }
  json operator()(const std::vector<std::string>& value) const { return value; }
  json operator()(DataType value) const { return value.ToString(); }
  json operator()(const relay::Shape& value) const { return ShapeJson(value); }
};

json AttrsJson(const relay::Attrs& attrs) {
  json result = json::object();
  if (attrs.op() != nullptr) {
    for (const relay::AttrSpec& spec : attrs.op()->attrs) {
      if (spec.default_value.has_value() && !spec.repeats) {
        result[spec.name] = std::visit(AttrToJson(), *spec.default_value);
      }
    }
  }
  for (const auto& [name, value] : attrs.values()) {
    result[name] = std::visit(AttrToJson(), value);
  }
  return result;
}

// Relay's text names it so.
std::string NameOf(const Value& value) {
  return value.node->outputs.size() == 1
             ? value.node->name
             : absl::StrCat(value.node->name, "#", value.index);
}

// Writes a value by the name that it has in JSON.
using ToJson = std::function<json(const Value&)>;

json ValuesJson(const std::vector<Value>& values, const ToJson& to_json) {
  json list = json::array();
  for (const Value& value : values) {
    list.push_back(value ? to_json(value) : json());
  }
  return list;
}

std::vector<Value> Results(const relay::Node& node) {
  std::vector<Value> results;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    results.push_back({const_cast<relay::Node*>(&node), static_cast<int>(i)});
  }
  return results;
}

json CallJson(const relay::Node& node, const ToJson& to_json) {
  return {{"name", node.name},
          {"op", node.op->name},
          {"attrs", AttrsJson(node.attrs)},
          {"inputs", ValuesJson(node.inputs, to_json)},
          {"outputs", ValuesJson(Results(node), to_json)}};
}

json WholeJson(const std::string& name, const std::string& composite,
               const std::vector<Value>& inputs,
               const std::vector<Value>& outputs,
               absl::Span<relay::Node* const> nodes, const ToJson& to_json) {
  json inner = json::array();
  for (const relay::Node* node : nodes) {
    inner.push_back(CallJson(*node, to_json));
  }
  return {{"name", name},
          {"op", composite},
          {"attrs", json::object()},
          {"inputs", ValuesJson(inputs, to_json)},
          {"outputs", ValuesJson(outputs, to_json)},
          {"nodes", std::move(inner)}};
}

// Writes a call of a composite in a region. Values between its operators get
// names that are unique in the region.
json CallOfComposite(const relay::Module& module, const relay::Node& call) {
  const codegen::RegionCall inside = codegen::ReadCall(module, call);
  const ToJson to_json = [&](const Value& value) {
    const Value outside = inside.Outside(value);
    if (!(outside == value)) return ValueJson(outside);
    if (value.node == inside.nodes.back()) {
      return ValueJson({const_cast<relay::Node*>(&call), value.index});
    }
    json result = ValueJson(value);
    result["name"] = absl::StrCat(call.name, ".", NameOf(value));
    return result;
  };
  const std::string& composite =
      module.Find(call.callee)->attrs.Get<std::string>("composite");
  json whole = WholeJson(call.name, composite, {}, {}, inside.nodes, to_json);
  whole["inputs"] = ValuesJson(call.inputs, ValueJson);
  whole["outputs"] = ValuesJson(Results(call), ValueJson);
  return whole;
}

}  // namespace

json ValueJson(const Value& value) {
  json result = {{"name", NameOf(value)},
                 {"dtype", value.type().dtype.ToString()},
                 {"shape", ShapeJson(value.type().shape)}};
  if (value.node->constant.has_value()) result["constant"] = true;
  return result;
}

json NodeJson(const relay::Node& node) { return CallJson(node, ValueJson); }

json CompositeJson(const std::string& composite,
                   absl::Span<relay::Node* const> nodes) {
  const std::set<const relay::Node*> members(nodes.begin(), nodes.end());
  std::vector<Value> inputs;
  for (const relay::Node* node : nodes) {
    for (const Value& input : node->inputs) {
      if (input && members.count(input.node) == 0 &&
          std::find(inputs.begin(), inputs.end(), input) == inputs.end()) {
        inputs.push_back(input);
      }
    }
  }
  const relay::Node& root = *nodes.back();
  return WholeJson(root.name, composite, inputs, Results(root), nodes,
                   ValueJson);
}

json RegionJson(const relay::Module& module, const relay::Function& region,
                absl::string_view symbol, Payload* payload) {
  json inputs = json::array(), constants = json::array(), nodes = json::array();
  for (relay::Node* input : region.inputs) {
    inputs.push_back(ValueJson({input}));
  }
  std::string text;
  for (const auto& node : region.nodes()) {
    if (node->kind == relay::NodeKind::kOp) {
      nodes.push_back(NodeJson(*node));
    } else if (node->kind == relay::NodeKind::kCallFunction) {
      nodes.push_back(CallOfComposite(module, *node));
      absl::StrAppend(&text, relay::Print(*module.Find(node->callee)));
    } else if (node->kind == relay::NodeKind::kConstant) {
      json constant = ValueJson({node.get()});
      const Tensor& tensor = *node->constant;
      constant["bytes"] = payload->Add(absl::string_view(
          static_cast<const char*>(tensor.raw_data()), tensor.bytes()));
      const auto* const key = node->attrs.Find<std::string>("constant");
      if (key != nullptr) constant["key"] = *key;
      constants.push_back(std::move(constant));
    }
  }
  absl::StrAppend(&text, relay::Print(region));
  return {{"symbol", std::string(symbol)},
          {"inputs", std::move(inputs)},
          {"outputs", ValuesJson(region.outputs, ValueJson)},
          {"constants", std::move(constants)},
          {"nodes", std::move(nodes)},
          {"text", std::move(text)}};
}

}  // namespace ingot::external
