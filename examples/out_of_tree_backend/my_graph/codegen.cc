#include "my_graph/codegen.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"

namespace acme {
namespace {

using ingot::CodegenResult;
using ingot::Target;

absl::Status Supports(const Target&, const ingot::relay::Node& node) {
  return ingot::codegen::CheckElementwise(node);
}

// "<symbol> shape: <dims>", then an operator a line: each reads what the one
// before made. A region of operators with one operand and one output is such a
// chain.
absl::StatusOr<CodegenResult> Generate(const Target&,
                                       const ingot::relay::Module&,
                                       const ingot::relay::Function& region,
                                       absl::string_view symbol) {
  if (region.outputs.size() != 1) {
    return absl::UnimplementedError("a region with several outputs");
  }
  INGOT_ASSIGN_OR_RETURN(const auto shape,
                         ingot::codegen::KnownShape(region.outputs[0].type()));
  std::string text =
      absl::StrCat(symbol, " shape: ", absl::StrJoin(shape, " "), "\n");
  for (const auto& node : region.nodes()) {
    if (node->kind == ingot::relay::NodeKind::kOp) {
      absl::StrAppend(&text, node->op->name, "\n");
    }
  }
  CodegenResult result;
  ingot::codegen::AddArtifact("my_graph", "my_graph",
                              absl::StrCat(symbol, ".my_graph"), text, &result);
  return result;
}

}  // namespace

absl::Status RegisterMyGraphTarget(ingot::TargetRegistry* registry) {
  ingot::TargetKind kind;
  kind.name = "my_graph";
  kind.doc = "relu and neg as a text for its own loader";
  kind.loaders = {"my_graph"};
  kind.operators = {"neg", "relu"};
  kind.supports = Supports;
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace acme
