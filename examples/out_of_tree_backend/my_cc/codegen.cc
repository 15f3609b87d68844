#include "my_cc/codegen.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/c_region.h"
#include "compiler/relay/op.h"
#include "compiler/status_macros.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

absl::Status Supports(const Target& target, const relay::Node& node) {
  if (!node.Is("relu") && !node.Is("neg")) {
    return absl::UnimplementedError("only relu and neg");
  }
  if (node.outputs[0].dtype != DataType::Float(32)) {
    return absl::UnimplementedError("only f32");
  }
  return codegen::KnownShape(node.outputs[0]).status();
}

absl::StatusOr<codegen::CText> PrintNode(const codegen::CNode& c) {
  INGOT_ASSIGN_OR_RETURN(const auto shape,
                         codegen::KnownShape(c.node.outputs[0]));
  INGOT_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  const std::string x = c.inputs[0] + "[i]";
  const std::string y =
      c.node.Is("relu") ? absl::StrCat(x, " > 0 ? ", x, " : 0") : "-" + x;
  codegen::CText text;
  text.statements = absl::StrCat("  for (int64_t i = 0; i < ", count, "; ++i) ",
                                 c.outputs[0], "[i] = ", y, ";\n");
  return text;
}

absl::StatusOr<CodegenResult> Generate(const Target& target,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  CodegenResult result;
  INGOT_ASSIGN_OR_RETURN(Artifact source,
                         codegen::MakeCRegion(region, "my_cc", symbol,
                                              {"-std=c99 -O3", ""}, PrintNode));
  result.artifacts.push_back(std::move(source));
  return result;
}

}  // namespace

absl::Status RegisterMyCcTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = "my_cc";
  kind.doc = "relu and neg as C";
  kind.loaders = {"native"};
  kind.supports = Supports;
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot
