#include "compiler/frontends/onnx/model/parse_model.h"

#include <limits>

#include "absl/status/status.h"

namespace ingot::onnx_frontend {

absl::StatusOr<onnx::ModelProto> ParseModel(const Blob& model) {
  // Parsing limits the depth of messages by itself.
  onnx::ModelProto proto;
  if (model.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return absl::InvalidArgumentError(
        "an ONNX file larger than 2 GiB; such models keep their weights in "
        "other files");
  }
  if (!proto.ParseFromArray(model.data(), static_cast<int>(model.size()))) {
    return absl::InvalidArgumentError(
        "not an ONNX model, or one that is cut off or damaged");
  }
  return proto;
}

}  // namespace ingot::onnx_frontend
