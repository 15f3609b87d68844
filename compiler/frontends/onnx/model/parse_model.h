#ifndef INGOT_COMPILER_FRONTENDS_ONNX_MODEL_PARSE_MODEL_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_MODEL_PARSE_MODEL_H_

#include "absl/status/statusor.h"
#include "artifact/blob.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

// The bytes of a model file as its message, the names in which are UTF-8.
// InvalidArgument for others.
absl::StatusOr<onnx::ModelProto> ParseModel(const Blob& model);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_MODEL_PARSE_MODEL_H_
