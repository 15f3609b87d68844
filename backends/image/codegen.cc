#include "backends/image/codegen.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/image/name.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"

namespace ingot {
namespace {

absl::Status Supports(const Target&, const relay::Node& node) {
  // No image is one.
  if (codegen::IsHeldByRegion(node.inputs[0])) {
    return absl::UnimplementedError("a constant file of one byte");
  }
  return absl::OkStatus();
}

// A line: the function's name, and the operator that it is. Neither reads what
// the other makes, so a region is one operator.
absl::StatusOr<CodegenResult> Generate(const Target&, const relay::Module&,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  const relay::Node& node = *region.outputs[0].node;
  if (region.outputs.size() != 1 || node.kind != relay::NodeKind::kOp ||
      node.inputs[0].node != region.inputs[0]) {
    return absl::InternalError("not one operator on the first input");
  }
  CodegenResult result;
  codegen::AddArtifact(image::kName, image::kName,
                       absl::StrCat(symbol, ".image"),
                       absl::StrCat(symbol, " ", node.op->name, "\n"), &result);
  return result;
}

}  // namespace

absl::Status RegisterImageTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = image::kName;
  kind.doc = "encoded images: BMP, JPEG, JPEG 2000, PNG, PNM, TIFF, WebP";
  kind.loaders = {image::kName};
  kind.operators = {"decode_image", "image_size"};
  kind.supports = Supports;
  kind.last_resort = true;
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot
