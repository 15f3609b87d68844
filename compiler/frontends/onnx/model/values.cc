#include "compiler/frontends/onnx/model/values.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/frontends/onnx/model/parse_model.h"
#include "onnx/onnx.pb.h"

namespace ingot {

absl::StatusOr<std::vector<ModelValue>> OnnxValues(const Blob& model) {
  INGOT_ASSIGN_OR_RETURN(const onnx::ModelProto proto,
                         onnx_frontend::ParseModel(model));
  std::vector<ModelValue> values;
  for (const onnx::NodeProto& node : proto.graph().node()) {
    for (const std::string& output : node.output()) {
      if (output.empty()) continue;
      values.push_back(
          {output, absl::StrCat(node.op_type(), " ", node.name())});
    }
  }
  return values;
}

}  // namespace ingot
