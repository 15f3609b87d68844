#include "my_graph/codegen.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/relay/op.h"

namespace ingot {
namespace {

absl::Status Supports(const Target& target, const relay::Node& node) {
  if (!node.Is("relu") && !node.Is("neg")) {
    return absl::UnimplementedError("only relu and neg");
  }
  const relay::TensorType& type = node.outputs[0];
  if (type.dtype != DataType::Float(32) || !relay::ConstShape(type.shape)) {
    return absl::UnimplementedError("only f32 of known size");
  }
  return absl::OkStatus();
}

// "<symbol> <dims>", then an operator a line: each reads what the one before
// made. A region of operators with one operand and one output is such a chain.
absl::StatusOr<CodegenResult> Generate(const Target& target,
                                       const relay::Module& module,
                                       const relay::Function& region,
                                       absl::string_view symbol) {
  if (region.outputs.size() != 1) {
    return absl::UnimplementedError("a region with several outputs");
  }
  std::string text = absl::StrCat(
      symbol, " ",
      absl::StrJoin(*relay::ConstShape(region.outputs[0].type().shape), " "),
      "\n");
  for (const auto& node : region.nodes()) {
    if (node->kind == relay::NodeKind::kOp) {
      absl::StrAppend(&text, node->op->name, "\n");
    }
  }
  Artifact graph;
  graph.codegen_id = "my_graph";
  graph.loader = "my_graph";
  graph.file_name = absl::StrCat(symbol, ".my_graph");
  graph.content = Blob::FromString(std::move(text));
  CodegenResult result;
  result.artifacts.push_back(std::move(graph));
  return result;
}

}  // namespace

absl::Status RegisterMyGraphTarget(TargetRegistry* registry) {
  TargetKind kind;
  kind.name = "my_graph";
  kind.doc = "relu and neg as a text for its own loader";
  kind.loaders = {"my_graph"};
  kind.supports = Supports;
  kind.relay_to_runtime = Generate;
  return registry->Register(std::move(kind));
}

}  // namespace ingot
