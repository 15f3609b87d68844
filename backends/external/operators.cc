#include "backends/external/operators.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/external/answer.h"
#include "backends/external/region_json.h"
#include "base/status_macros.h"
#include "compiler/relay/dim_text.h"

namespace ingot::external {
namespace {

using nlohmann::json;
using relay::TensorType;
using relay::Value;

// A dimension that the other side names is one of an operand.
absl::StatusOr<TensorType> TypeOf(
    const json& described, const std::map<std::string, relay::Dim>& known) {
  TensorType type;
  INGOT_ASSIGN_OR_RETURN(type.dtype,
                         DataType::Parse(TextOr(described, "dtype", "")));
  const auto shape = described.find("shape");
  if (shape == described.end() || !shape->is_array()) {
    return absl::InvalidArgumentError("a result without shape");
  }
  for (const json& dim : *shape) {
    if (dim.is_number_integer() && dim.get<int64_t>() >= 0) {
      type.shape.push_back(relay::MakeShape({dim.get<int64_t>()}).front());
      continue;
    }
    const auto it =
        dim.is_string() ? known.find(dim.get<std::string>()) : known.end();
    if (it == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the dimension ",
                       dim.dump(-1, ' ', false, json::error_handler_t::replace),
                       " is neither a number nor one of an operand"));
    }
    type.shape.push_back(it->second);
  }
  return type;
}

absl::StatusOr<std::vector<TensorType>> Infer(Connection& connection,
                                              const std::string& name,
                                              absl::Span<const Value> inputs,
                                              absl::string_view attributes) {
  json operands = json::array();
  std::map<std::string, relay::Dim> known;
  for (const Value& input : inputs) {
    operands.push_back(input ? ValueJson(input) : json());
    if (!input) continue;
    for (const relay::Dim& dim : input.type().shape) {
      known.emplace(relay::DimToString(dim), dim);
    }
  }
  INGOT_ASSIGN_OR_RETURN(const Answer answer,
                         connection.Ask({{"method", "infer"},
                                         {"operator", name},
                                         {"inputs", std::move(operands)},
                                         {"attributes", attributes}}));
  std::vector<TensorType> types;
  for (const json& described : Objects(answer.body, "outputs")) {
    absl::StatusOr<TensorType> type = TypeOf(described, known);
    if (!type.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the backend ", connection.name(), ": ", name, ": ",
                       type.status().message()));
    }
    types.push_back(*std::move(type));
  }
  return types;
}

}  // namespace

std::vector<CustomOperator> Operators(std::shared_ptr<Connection> connection) {
  std::vector<CustomOperator> operators;
  for (const std::string& name :
       Texts(connection->description(), "operators")) {
    const size_t separator = name.find("::");
    if (separator == std::string::npos) continue;
    CustomOperator custom;
    custom.domain = name.substr(0, separator);
    custom.name = name.substr(separator + 2);
    custom.infer = [connection, name](absl::Span<const Value> inputs,
                                      absl::string_view attributes) {
      return Infer(*connection, name, inputs, attributes);
    };
    operators.push_back(std::move(custom));
  }
  return operators;
}

}  // namespace ingot::external
