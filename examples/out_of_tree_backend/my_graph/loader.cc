#include "my_graph/loader.h"

#include <string>
#include <utility>

#include "loaders/function_loader.h"
#include "my_graph/graph.h"

namespace acme {
namespace {

absl::Status Run(const Graph& graph, absl::Span<void* const> tensors) {
  const float* x = static_cast<const float*>(tensors[0]);
  float* y = static_cast<float*>(tensors[1]);
  for (int64_t i = 0; i < graph.elements; ++i) {
    float v = x[i];
    for (const std::string& op : graph.ops) {
      v = op == "neg" ? -v : v > 0 ? v : 0;
    }
    y[i] = v;
  }
  return absl::OkStatus();
}

absl::StatusOr<ingot::LoadedFunction> LoadGraph(const ingot::Artifact& artifact,
                                                ingot::LoadContext&) {
  absl::StatusOr<Graph> graph = ReadGraph(artifact.content.view());
  if (!graph.ok()) return graph.status();
  const ingot::TensorSpec type{ingot::DataType::Float(32), graph->shape};
  return ingot::CheckedFunction(
      graph->symbol, {{type}, {type}},
      [graph = *graph](absl::Span<void* const> t) { return Run(graph, t); });
}

}  // namespace

absl::Status RegisterMyGraphLoader(ingot::LoaderRegistry* registry) {
  return ingot::RegisterFunctionLoader("my_graph", LoadGraph, registry);
}

}  // namespace acme
