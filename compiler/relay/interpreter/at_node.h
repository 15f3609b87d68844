// Internal to compiler/relay/interpreter.
#ifndef INGOT_COMPILER_RELAY_INTERPRETER_AT_NODE_H_
#define INGOT_COMPILER_RELAY_INTERPRETER_AT_NODE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/ir.h"

namespace ingot::relay {

// An error with the name of the node that caused it.
inline absl::Status AtNode(const Node& node, const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat("node %", QuoteName(node.name), ": ", status.message()));
}

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_INTERPRETER_AT_NODE_H_
