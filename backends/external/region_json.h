// Parts of relay as JSON, for programs that have no relay.
#ifndef INGOT_BACKENDS_EXTERNAL_REGION_JSON_H_
#define INGOT_BACKENDS_EXTERNAL_REGION_JSON_H_

#include "absl/strings/string_view.h"
#include "compiler/relay/ir.h"
#include "nlohmann/json.hpp"

namespace ingot::external {

// {"name", "dtype", "shape"}; a dimension is a number or the text of a formula.
// A constant also has {"constant": true}.
nlohmann::json ValueJson(const relay::Value& value);

// {"name", "op", "attrs", "inputs": [value or null], "outputs": [value]}. All
// attributes that have a value are there, defaults too.
nlohmann::json NodeJson(const relay::Node& node);

// {"symbol", "inputs", "outputs", "constants", "nodes", "text"}: values, nodes
// in order, and the same as relay's text. A constant is a value with "value",
// its elements in order; backends without constants of their own only see those
// of few elements.
nlohmann::json RegionJson(const relay::Function& region,
                          absl::string_view symbol);

}  // namespace ingot::external

#endif  // INGOT_BACKENDS_EXTERNAL_REGION_JSON_H_
