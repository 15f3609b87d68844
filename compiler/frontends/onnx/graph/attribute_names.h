// Which attributes ONNX's operators have.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_ATTRIBUTE_NAMES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_ATTRIBUTE_NAMES_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

// InvalidArgument where an operator of one of ONNX's own domains is given an
// attribute that it has in no operator set, which is likely to be one misspelt,
// and that is none of `asked`, those that its converter looked for.
absl::Status CheckAttributeNames(const onnx::NodeProto& node,
                                 const std::set<std::string>& asked);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_ATTRIBUTE_NAMES_H_
