#include "compiler/frontends/onnx/import.h"

#include <limits>

#include "absl/status/status.h"
#include "compiler/frontends/onnx/importer.h"
#include "onnx/onnx.pb.h"

namespace ingot {

absl::StatusOr<relay::Module> ImportOnnx(const Blob& model,
                                         const ImportOptions& options) {
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
  return onnx_frontend::Importer(&proto, options).Run();
}

}  // namespace ingot
