#include "backends/examplejson/codegen.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/examplejson/name.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"

namespace ingot {
namespace {

std::string Dims(const relay::Node& node) {
  return absl::StrJoin(*relay::ConstShape(node.outputs[0].shape), " ");
}

// A line for each value of the region, the inputs first.
absl::StatusOr<CodegenResult> Generate(const Target&, const relay::Module&,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  // Values are numbered as they come.
  std::map<relay::Value, size_t> ids;
  const auto id = [&](const relay::Value& value) {
    return ids.emplace(value, ids.size()).first->second;
  };
  std::string text = absl::StrCat(symbol, "\n");
  for (relay::Node* input : region.inputs) {
    absl::StrAppend(&text, "  input ", id({input}), " ", Dims(*input), "\n");
  }
  for (const auto& node : region.nodes()) {
    if (node->kind == relay::NodeKind::kOp) {
      absl::StrAppend(&text, "  ", node->op->name, " ", id({node.get()}),
                      " inputs: ", id(node->inputs[0]), " ",
                      id(node->inputs[1]), " shape: ", Dims(*node), "\n");
    } else if (node->kind == relay::NodeKind::kConstant) {
      // Larger ones than a single number are inputs.
      const float value = node->constant->data<float>()[0];
      absl::StrAppend(&text, "  const ", id({node.get()}),
                      " shape: ", Dims(*node),
                      " values: ", absl::StrFormat("%.9g", value), "\n");
    }
  }
  absl::StrAppend(&text, "  outputs");
  for (const relay::Value& output : region.outputs) {
    absl::StrAppend(&text, " ", id(output));
  }
  CodegenResult result;
  codegen::AddArtifact(examplejson::kName, examplejson::kName,
                       absl::StrCat(symbol, ".examplejson"), text + "\n",
                       &result);
  return result;
}

}  // namespace

absl::Status RegisterExamplejsonTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = examplejson::kName;
  kind.doc = "example: element-wise arithmetic as text for its own loader";
  kind.loaders = {examplejson::kName};
  kind.operators = {"add", "sub", "mul"};
  kind.supports = [](const Target&, const relay::Node& node) {
    return codegen::CheckElementwise(node);
  };
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot
