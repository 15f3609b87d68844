#include "compiler/frontends/onnx/model/parse_model.h"

#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "base/utf8.h"

namespace ingot::onnx_frontend {
namespace {

// Names go into the plan and into text, which hold nothing but UTF-8; protobuf
// itself lets a model of the older syntax have any bytes.
absl::Status CheckName(absl::string_view name, absl::string_view where) {
  if (IsUtf8(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the name of ", where, " is not UTF-8"));
}

absl::Status CheckValue(const onnx::ValueInfoProto& value,
                        absl::string_view where) {
  INGOT_RETURN_IF_ERROR(CheckName(value.name(), where));
  for (const auto& dim : value.type().tensor_type().shape().dim()) {
    INGOT_RETURN_IF_ERROR(CheckName(
        dim.dim_param(), absl::StrCat("a dimension of ", value.name())));
  }
  return absl::OkStatus();
}

absl::Status CheckGraph(const onnx::GraphProto& graph);

absl::Status CheckNode(const onnx::NodeProto& node, int index) {
  INGOT_RETURN_IF_ERROR(CheckName(node.name(), absl::StrCat("node ", index)));
  const std::string where =
      absl::StrCat("node ", index, " ('", node.name(), "')");
  INGOT_RETURN_IF_ERROR(
      CheckName(node.op_type(), absl::StrCat("the operator of ", where)));
  for (const std::string& input : node.input()) {
    INGOT_RETURN_IF_ERROR(
        CheckName(input, absl::StrCat("an input of ", where)));
  }
  for (const std::string& output : node.output()) {
    INGOT_RETURN_IF_ERROR(
        CheckName(output, absl::StrCat("an output of ", where)));
  }
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    INGOT_RETURN_IF_ERROR(CheckGraph(attribute.g()));
  }
  return absl::OkStatus();
}

absl::Status CheckGraph(const onnx::GraphProto& graph) {
  for (const onnx::ValueInfoProto& input : graph.input()) {
    INGOT_RETURN_IF_ERROR(CheckValue(input, "an input"));
  }
  for (const onnx::ValueInfoProto& output : graph.output()) {
    INGOT_RETURN_IF_ERROR(CheckValue(output, "an output"));
  }
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    INGOT_RETURN_IF_ERROR(CheckName(tensor.name(), "an initializer"));
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    INGOT_RETURN_IF_ERROR(CheckNode(graph.node(i), i));
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const onnx::ModelProto& model) {
  INGOT_RETURN_IF_ERROR(CheckGraph(model.graph()));
  for (const onnx::FunctionProto& function : model.functions()) {
    INGOT_RETURN_IF_ERROR(CheckName(function.name(), "a function"));
    for (int i = 0; i < function.node_size(); ++i) {
      INGOT_RETURN_IF_ERROR(CheckNode(function.node(i), i));
    }
  }
  return absl::OkStatus();
}

}  // namespace

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
  INGOT_RETURN_IF_ERROR(CheckNames(proto));
  return proto;
}

}  // namespace ingot::onnx_frontend
