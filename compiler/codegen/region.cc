#include "compiler/codegen/region.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/tensor.h"

namespace ingot::codegen {
namespace {

absl::StatusOr<int64_t> FloatElements(const relay::TensorType& type) {
  if (type.dtype != DataType::Float(32)) {
    return absl::UnimplementedError(
        absl::StrCat("only f32, not ", type.dtype.ToString()));
  }
  return KnownElements(type);
}

}  // namespace

void AddArtifact(absl::string_view codegen_id, absl::string_view loader,
                 absl::string_view file_name, std::string content,
                 CodegenResult* result) {
  Artifact artifact;
  artifact.codegen_id = std::string(codegen_id);
  artifact.loader = std::string(loader);
  artifact.file_name = std::string(file_name);
  artifact.content = Blob::FromString(std::move(content));
  result->artifacts.push_back(std::move(artifact));
}

absl::StatusOr<std::vector<int64_t>> KnownShape(const relay::TensorType& type) {
  if (auto shape = relay::ConstShape(type.shape)) return *shape;
  return absl::InvalidArgumentError(absl::StrCat(
      relay::ToString(type), " has a dimension that is not known"));
}

absl::StatusOr<int64_t> KnownElements(const relay::TensorType& type) {
  INGOT_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, KnownShape(type));
  return CountElements(shape);
}

absl::StatusOr<size_t> KnownBytes(const relay::Value& value) {
  if (!value) return 0;
  INGOT_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                         KnownShape(value.type()));
  return CountBytes(value.type().dtype, shape);
}

bool RunsAlong(absl::Span<const int64_t> shape,
               absl::Span<const int64_t> result, size_t axis) {
  const size_t rank = result.size();
  if (shape.size() > rank || axis < rank - shape.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool here = d + rank - shape.size() == axis;
    if (shape[d] != (here ? result[axis] : 1)) return false;
  }
  return true;
}

relay::Value RegionCall::Outside(const relay::Value& value) const {
  auto it = arguments.find(value);
  return it == arguments.end() ? value : it->second;
}

const relay::Node* RegionCall::Find(
    const std::vector<std::string>& names) const {
  for (const relay::Node* node : nodes) {
    for (const std::string& name : names) {
      if (node->Is(name)) return node;
    }
  }
  return nullptr;
}

relay::Value RegionCall::Operand(const std::string& name, int n) const {
  const relay::Node* node = Find({name});
  if (node == nullptr) return {};
  for (const relay::Value& input : node->inputs) {
    const bool inside =
        std::find(nodes.begin(), nodes.end(), input.node) != nodes.end();
    if (!inside && n-- == 0) return input;
  }
  return {};
}

RegionCall ReadCall(const relay::Module& module, const relay::Node& node) {
  RegionCall call;
  if (node.kind != relay::NodeKind::kCallFunction) {
    call.nodes = {const_cast<relay::Node*>(&node)};
    return call;
  }
  const relay::Function& composite = *module.Find(node.callee);
  for (const auto& inner : composite.nodes()) {
    if (inner->kind == relay::NodeKind::kOp) call.nodes.push_back(inner.get());
  }
  for (size_t i = 0; i < composite.inputs.size(); ++i) {
    call.arguments[{composite.inputs[i]}] = node.inputs[i];
  }
  return call;
}

bool IsHeldByRegion(const relay::Value& value) {
  return value && value.node->constant.has_value() &&
         value.node->constant->NumElements() == 1;
}

absl::Status CheckElementwise(const relay::Node& node) {
  INGOT_ASSIGN_OR_RETURN(const int64_t count, FloatElements(node.outputs[0]));
  for (const relay::Value& input : node.inputs) {
    INGOT_ASSIGN_OR_RETURN(const int64_t elements, FloatElements(input.type()));
    if (elements != count && elements != 1) {
      return absl::UnimplementedError(
          absl::StrCat("an operand ", relay::ToString(input.type()),
                       " would have to be repeated"));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::codegen
