#include "backends/external/region_json.h"

#include <cmath>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/op.h"
#include "compiler/relay/printer.h"
#include "runtime/float16.h"

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

json Element(const Tensor& tensor, int64_t i) {
  const void* data = tensor.raw_data();
  const auto at = [&](auto zero) {
    return static_cast<const decltype(zero)*>(data)[i];
  };
  const DataType type = tensor.dtype();
  switch (type.code) {
    case DataType::kFloat:
      if (type.bits == 64) return Number(at(double{}));
      if (type.bits == 32) return Number(at(float{}));
      return Number(HalfToFloat(at(uint16_t{})));
    case DataType::kBFloat:
      return Number(BFloat16ToFloat(at(uint16_t{})));
    case DataType::kBool:
      return at(uint8_t{}) != 0;
    case DataType::kInt:
      if (type.bits == 64) return at(int64_t{});
      if (type.bits == 32) return at(int32_t{});
      if (type.bits == 16) return at(int16_t{});
      return at(int8_t{});
    default:
      if (type.bits == 64) return at(uint64_t{});
      if (type.bits == 32) return at(uint32_t{});
      if (type.bits == 16) return at(uint16_t{});
      return at(uint8_t{});
  }
}

}  // namespace

json ValueJson(const Value& value) {
  json result = {{"name", NameOf(value)},
                 {"dtype", value.type().dtype.ToString()},
                 {"shape", ShapeJson(value.type().shape)}};
  if (value.node->constant.has_value()) result["constant"] = true;
  return result;
}

json NodeJson(const relay::Node& node) {
  json inputs = json::array(), outputs = json::array();
  for (const Value& input : node.inputs) {
    inputs.push_back(input ? ValueJson(input) : json());
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    outputs.push_back(
        ValueJson({const_cast<relay::Node*>(&node), static_cast<int>(i)}));
  }
  return {{"name", node.name},
          {"op", node.op->name},
          {"attrs", AttrsJson(node.attrs)},
          {"inputs", std::move(inputs)},
          {"outputs", std::move(outputs)}};
}

json RegionJson(const relay::Function& region, absl::string_view symbol) {
  json result = {
      {"symbol", std::string(symbol)}, {"inputs", json::array()},
      {"outputs", json::array()},      {"constants", json::array()},
      {"nodes", json::array()},        {"text", relay::Print(region)}};
  for (relay::Node* input : region.inputs) {
    result["inputs"].push_back(ValueJson({input}));
  }
  for (const Value& output : region.outputs) {
    result["outputs"].push_back(ValueJson(output));
  }
  for (const auto& node : region.nodes()) {
    if (node->kind == relay::NodeKind::kOp) {
      result["nodes"].push_back(NodeJson(*node));
    } else if (node->kind == relay::NodeKind::kConstant) {
      json constant = ValueJson({node.get()});
      json& elements = constant["value"] = json::array();
      for (int64_t i = 0; i < node->constant->NumElements(); ++i) {
        elements.push_back(Element(*node->constant, i));
      }
      result["constants"].push_back(std::move(constant));
    }
  }
  return result;
}

}  // namespace ingot::external
