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
absl::StatusOr<std::string> Formula(const ingot::Artifact& artifact,
                                    const ingot::ArtifactSet&) {
  absl::StatusOr<Graph> graph = ReadGraph(artifact.content.view());
  if (!graph.ok()) return graph.status();
  std::string formula = "x";
  for (const std::string& op : graph->ops) {
    formula = absl::StrCat(op, "(", formula, ")");
  }
  return absl::StrCat(graph->symbol, "(x) = ", formula, ", x: f32[",
                      absl::StrJoin(graph->shape, ", "), "]\n");
}

// "2 graphs of 5 operators": all of those in a set.
absl::StatusOr<std::string> Count(const ingot::ArtifactSet& set) {
  size_t graphs = 0, operators = 0;
  for (const ingot::Artifact& artifact : set.artifacts()) {
    if (artifact.loader != "my_graph") continue;
    absl::StatusOr<Graph> graph = ReadGraph(artifact.content.view());
    if (!graph.ok()) return graph.status();
    ++graphs;
    operators += graph->ops.size();
  }
  return absl::StrCat(graphs, " graphs of ", operators, " operators\n");
}

}  // namespace

absl::Status RegisterMyGraphInspectors(ingot::InspectorRegistry* registry) {
  ingot::InspectorRule rule;
  rule.name = "my_graph.formula";
  rule.loader = "my_graph";
  rule.output_suffix = ".formula.txt";
  rule.inspect = Formula;
  absl::Status status = registry->Register(std::move(rule));
  status.Update(registry->RegisterForSets({"my_graph.count", Count}));
  return status;
}

}  // namespace acme
