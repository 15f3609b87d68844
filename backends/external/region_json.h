// Parts of relay as JSON, for programs that have no relay.
#ifndef INGOT_BACKENDS_EXTERNAL_REGION_JSON_H_
#define INGOT_BACKENDS_EXTERNAL_REGION_JSON_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/external/payload.h"
#include "compiler/relay/ir.h"
#include "nlohmann/json.hpp"

namespace ingot::external {

// {"name", "dtype", "shape"}; a dimension is a number or the text of a formula.
// A constant also has {"constant": true}.
nlohmann::json ValueJson(const relay::Value& value);

// {"name", "op", "attrs", "inputs": [value or null], "outputs": [value]}. All
// attributes that have a value are there, defaults too.
nlohmann::json NodeJson(const relay::Node& node);

// The same is made of operators that a target takes as one: "op" is the
// composite's name, "nodes" are the operators, operands before what reads them,
// and "inputs" what these read from outside.
nlohmann::json CompositeJson(const std::string& composite,
                             absl::Span<relay::Node* const> nodes);

// {"symbol", "inputs", "outputs", "constants", "nodes", "text"}: values, nodes
// and composites in order, and the same as relay's text. A constant is a value
// with "bytes", its elements in `payload`, and with "key" where its loader
// finds it by that.
nlohmann::json RegionJson(const relay::Module& module,
                          const relay::Function& region,
                          absl::string_view symbol, Payload* payload);

}  // namespace ingot::external

#endif  // INGOT_BACKENDS_EXTERNAL_REGION_JSON_H_
