#include "backends/ccompiler/codegen.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "compiler/codegen/c_region.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"

namespace ingot {
namespace {

// Relay's operators and C's.
const std::map<std::string, char>& Operators() {
  static const auto* const operators = new std::map<std::string, char>{
      {"add", '+'}, {"sub", '-'}, {"mul", '*'}, {"div", '/'}};
  return *operators;
}

// One function for each node. An operand of one element, at index 0, goes with
// every element of the other.
constexpr char kMacro[] =
    R"(#define CCOMPILER_BINARY(name, op, count, at_a, at_b)                \
  static void name(const float* a, const float* b, float* out) {     \
    for (int64_t i = 0; i < count; ++i) out[i] = a[at_a] op b[at_b]; \
  }

)";

// The index of an operand's element for the result's element i.
absl::StatusOr<std::string> At(const relay::Value& operand) {
  INGOT_ASSIGN_OR_RETURN(const int64_t elements,
                         codegen::KnownElements(operand.type()));
  return elements == 1 ? "0" : "i";
}

absl::StatusOr<codegen::CText> PrintNode(const codegen::CNode& c) {
  INGOT_ASSIGN_OR_RETURN(const int64_t count,
                         codegen::KnownElements(c.node.outputs[0]));
  INGOT_ASSIGN_OR_RETURN(const std::string a, At(c.node.inputs[0]));
  INGOT_ASSIGN_OR_RETURN(const std::string b, At(c.node.inputs[1]));
  codegen::CText text;
  text.declarations =
      absl::StrCat("CCOMPILER_BINARY(", c.name, ", ",
                   std::string(1, Operators().at(c.node.op->name)), ", ", count,
                   ", ", a, ", ", b, ")\n");
  text.statements = absl::StrCat("  ", c.name, "(", c.inputs[0], ", ",
                                 c.inputs[1], ", ", c.outputs[0], ");\n");
  return text;
}

absl::StatusOr<CodegenResult> Generate(const Target&,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  return codegen::MakeCRegion(module, region, "ccompiler", symbol,
                              {"-std=c99 -O3", kMacro}, PrintNode);
}

}  // namespace

absl::Status RegisterCcompilerTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = "ccompiler";
  kind.doc = "example: element-wise arithmetic as C source";
  kind.loaders = {kNativeLoader};
  kind.operators.emplace();
  for (const auto& [name, sign] : Operators()) kind.operators->push_back(name);
  kind.supports = [](const Target&, const relay::Node& node) {
    return codegen::CheckElementwise(node);
  };
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot
