#include "compiler/frontends/onnx/custom.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace ingot::onnx_frontend {
namespace {

using nlohmann::json;
using onnx::AttributeProto;

// JSON has no number for one that is not finite.
json NumberJson(float number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

absl::StatusOr<json> AttributeJson(const AttributeProto& a) {
  switch (a.type()) {
    case AttributeProto::INT:
      return json(a.i());
    case AttributeProto::FLOAT:
      return NumberJson(a.f());
    case AttributeProto::STRING:
      return json(a.s());
    case AttributeProto::INTS:
      return json(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case AttributeProto::FLOATS: {
      json numbers = json::array();
      for (const float number : a.floats()) {
        numbers.push_back(NumberJson(number));
      }
      return numbers;
    }
    case AttributeProto::STRINGS:
      return json(
          std::vector<std::string>(a.strings().begin(), a.strings().end()));
    default:
      return absl::UnimplementedError(
          absl::StrCat("attribute ", a.name(),
                       " is neither a number, nor a "
                       "text, nor a list of such"));
  }
}

// Text in a file need not be UTF-8.
std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

absl::Status Convert(const CustomOperator& custom, NodeContext& c) {
  json attributes = json::object();
  for (const AttributeProto& attribute : c.node().attribute()) {
    INGOT_ASSIGN_OR_RETURN(attributes[attribute.name()],
                           AttributeJson(attribute));
  }
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> inputs, c.Inputs(0));
  const std::string text = Dump(attributes);
  INGOT_ASSIGN_OR_RETURN(const std::vector<TensorType> types,
                         custom.infer(inputs, text));
  if (types.size() < static_cast<size_t>(c.node().output_size())) {
    return c.Error("the backend knows ", types.size(), " results of it, not ",
                   c.node().output_size());
  }
  std::vector<std::string> dtypes;
  std::vector<int64_t> ranks;
  Shape shapes;
  for (const TensorType& type : types) {
    dtypes.push_back(type.dtype.ToString());
    ranks.push_back(static_cast<int64_t>(type.shape.size()));
    shapes.insert(shapes.end(), type.shape.begin(), type.shape.end());
  }
  const auto operands = static_cast<int64_t>(inputs.size());
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      c.EmitNode("custom", std::move(inputs),
                 Attrs{{"name", absl::StrCat(custom.domain, "::", custom.name)},
                       {"attributes", text},
                       {"operands", operands},
                       {"dtypes", dtypes},
                       {"ranks", ranks},
                       {"shapes", shapes}}));
  for (int i = 0; i < c.node().output_size(); ++i) {
    c.SetOutput(i, Value{node, i});
  }
  return absl::OkStatus();
}

}  // namespace

Converter CustomConverter(CustomOperator custom) {
  return [custom = std::move(custom)](NodeContext& c) {
    return Convert(custom, c);
  };
}

}  // namespace ingot::onnx_frontend
