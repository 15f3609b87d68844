// Fields that ONNX has added since the version whose schema Ingot is built
// with. Protobuf keeps them as bytes.

#ifndef INGOT_COMPILER_FRONTENDS_ONNX_MODEL_NEWER_FIELDS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_MODEL_NEWER_FIELDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

// The attributes of a function that have a value where a call gives none.
// InvalidArgument if their bytes are damaged, Unimplemented for graphs.
absl::StatusOr<std::vector<onnx::AttributeProto>> DefaultAttributes(
    const onnx::FunctionProto& function);

// Which of several functions of one name and domain a function is, and which
// one a node calls. Empty for most.
std::string Overload(const onnx::FunctionProto& function);
std::string Overload(const onnx::NodeProto& node);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_MODEL_NEWER_FIELDS_H_
