#include "compiler/codegen/region.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/status_macros.h"
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
