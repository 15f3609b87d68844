#include "my_graph/loader.h"

#include <string>
#include <vector>

#include "loaders/function_loader.h"
#include "loaders/text_lines.h"

namespace ingot {
namespace {

struct Graph {
  std::string symbol;
  TensorSpec type{DataType::Float(32), {}};
  int64_t elements = 0;
  std::vector<std::string> ops;
};

// The text may come from anywhere: everything in it is checked here, once.
absl::Status ReadLine(Words words, Graph* graph) {
  if (graph->symbol.empty()) {
    graph->symbol = std::string(words[0]);
    return ReadShape(Behind("shape:", words), &graph->type.shape,
                     &graph->elements);
  }
  if (words[0] != "relu" && words[0] != "neg") {
    return Malformed("what is '", words[0], "'?");
  }
  graph->ops.emplace_back(words[0]);
  return absl::OkStatus();
}

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

absl::StatusOr<LoadedFunction> LoadGraph(const Artifact& artifact,
                                         LoadContext&) {
  Graph graph;
  absl::Status read = ReadLines(artifact.content.view(), [&](Words words) {
    return ReadLine(words, &graph);
  });
  if (!read.ok()) return read;
  if (graph.symbol.empty()) return Malformed("the file is empty");
  return CheckedFunction(
      graph.symbol, {{graph.type}, {graph.type}},
      [graph](absl::Span<void* const> tensors) { return Run(graph, tensors); });
}

}  // namespace

absl::Status RegisterMyGraphLoader(LoaderRegistry* registry) {
  return RegisterFunctionLoader("my_graph", LoadGraph, registry);
}

}  // namespace ingot
