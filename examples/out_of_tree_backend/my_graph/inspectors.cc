#include "my_graph/inspectors.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "my_graph/graph.h"

namespace acme {
namespace {

// "model_my_graph_0(x) = relu(neg(x)), x: f32[2, 4]".
absl::StatusOr<std::string> Formula(const ingot::Artifact& artifact) {
  absl::StatusOr<Graph> graph = ReadGraph(artifact.content.view());
  if (!graph.ok()) return graph.status();
  std::string formula = "x";
  for (const std::string& op : graph->ops) {
    formula = absl::StrCat(op, "(", formula, ")");
  }
  return absl::StrCat(graph->symbol, "(x) = ", formula, ", x: f32[",
                      absl::StrJoin(graph->shape, ", "), "]\n");
}

}  // namespace

absl::Status RegisterMyGraphInspectors(ingot::InspectorRegistry* registry) {
  ingot::InspectorRule rule;
  rule.name = "my_graph.formula";
  rule.loader = "my_graph";
  rule.output_suffix = ".formula.txt";
  rule.inspect = Formula;
  return registry->Register(std::move(rule));
}

}  // namespace acme
