#include "my_cc/codegen.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "compiler/codegen/c_region.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"
#include "compiler/relay/pattern.h"

namespace acme {
namespace {

using ingot::Target;
using ingot::codegen::CNode;
using ingot::codegen::CText;
using ingot::relay::Node;
using ingot::relay::Pattern;
using ingot::relay::Value;

absl::Status Supports(const Target&, const Node& node) {
  return ingot::codegen::CheckElementwise(node);
}

absl::Status CheckScaleShift(const Target&, absl::Span<Node* const> nodes) {
  for (const Node* node : nodes) {
    INGOT_RETURN_IF_ERROR(ingot::codegen::CheckElementwise(*node));
  }
  return absl::OkStatus();
}

// Element i of a value, or its only one. A constant of a single number is an
// array in the C text, a longer one a parameter of the region: both have names.
absl::StatusOr<std::string> Element(const CNode& c, const Value& value) {
  INGOT_ASSIGN_OR_RETURN(const int64_t count,
                         ingot::codegen::KnownElements(value.type()));
  return absl::StrCat(c.NameOf(value), count == 1 ? "[0]" : "[i]");
}

// The C expression for element i of the result.
absl::StatusOr<std::string> Expression(const CNode& c) {
  const Node& first = *c.call.nodes[0];
  INGOT_ASSIGN_OR_RETURN(const std::string x, Element(c, first.inputs[0]));
  if (first.Is("relu")) return absl::StrCat(x, " > 0 ? ", x, " : 0");
  if (first.Is("neg")) return absl::StrCat("-", x);
  if (first.Is("leaky_relu")) {
    const double alpha = first.attrs.Get<double>("alpha");
    return absl::StrCat(x, " > 0 ? ", x, " : ",
                        absl::StrFormat("(float)%.17g", alpha), " * ", x);
  }
  // The composite: its operators are mul and add.
  INGOT_ASSIGN_OR_RETURN(const std::string scale, Element(c, first.inputs[1]));
  INGOT_ASSIGN_OR_RETURN(const std::string shift,
                         Element(c, c.call.Operand("add")));
  return absl::StrCat(x, " * ", scale, " + ", shift);
}

absl::StatusOr<CText> PrintNode(const CNode& c) {
  INGOT_ASSIGN_OR_RETURN(const int64_t count,
                         ingot::codegen::KnownElements(c.node.outputs[0]));
  INGOT_ASSIGN_OR_RETURN(const std::string y, Expression(c));
  CText text;
  text.statements = absl::StrCat("  for (int64_t i = 0; i < ", count, "; ++i) ",
                                 c.outputs[0], "[i] = ", y, ";\n");
  return text;
}

absl::StatusOr<ingot::CodegenResult> Generate(
    const Target&, const ingot::relay::Module& module,
    const ingot::relay::Function& region, absl::string_view symbol) {
  return ingot::codegen::MakeCRegion(module, region, "my_cc", symbol,
                                     {"-std=c99 -O3", ""}, PrintNode);
}

}  // namespace

absl::Status RegisterMyCcTarget(ingot::TargetRegistry* registry) {
  ingot::TargetKind kind;
  kind.name = "my_cc";
  kind.doc = "some element-wise operators as C";
  kind.loaders = {ingot::kNativeLoader};
  kind.operators = {"leaky_relu", "neg", "relu"};
  kind.supports = Supports;
  kind.patterns = {
      {"scale_shift",
       Pattern::Op({"add"},
                   {Pattern::Op({"mul"}, {Pattern::Any(), Pattern::Constant()}),
                    Pattern::Constant()}),
       CheckScaleShift}};
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace acme
