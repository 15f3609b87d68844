#include "my_cc/codegen.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/c_region.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"
#include "compiler/status_macros.h"

namespace ingot {
namespace {

absl::Status Supports(const Target&, const relay::Node& node) {
  if (!node.Is("relu") && !node.Is("neg")) {
    return absl::UnimplementedError("only relu and neg");
  }
  return codegen::CheckElementwise(node);
}

absl::StatusOr<codegen::CText> PrintNode(const codegen::CNode& c) {
  INGOT_ASSIGN_OR_RETURN(const int64_t count,
                         codegen::KnownElements(c.node.outputs[0]));
  const std::string x = c.inputs[0] + "[i]";
  const std::string y =
      c.node.Is("relu") ? absl::StrCat(x, " > 0 ? ", x, " : 0") : "-" + x;
  codegen::CText text;
  text.statements = absl::StrCat("  for (int64_t i = 0; i < ", count, "; ++i) ",
                                 c.outputs[0], "[i] = ", y, ";\n");
  return text;
}

absl::StatusOr<CodegenResult> Generate(const Target&,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  return codegen::MakeCRegion(module, region, "my_cc", symbol,
                              {"-std=c99 -O3", ""}, PrintNode);
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
