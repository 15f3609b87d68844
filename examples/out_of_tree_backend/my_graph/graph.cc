#include "my_graph/graph.h"

#include "loaders/function_loader.h"
#include "loaders/text_lines.h"

namespace acme {
namespace {

absl::Status ReadLine(ingot::Words words, Graph* graph) {
  if (graph->symbol.empty()) {
    graph->symbol = std::string(words[0]);
    return ingot::ReadShape(ingot::Behind("shape:", words), &graph->shape,
                            &graph->elements);
  }
  if (words[0] != "relu" && words[0] != "neg") {
    return ingot::Malformed("what is '", words[0], "'?");
  }
  graph->ops.emplace_back(words[0]);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> ReadGraph(absl::string_view text) {
  Graph graph;
  absl::Status read = ingot::ReadLines(
      text, [&](ingot::Words words) { return ReadLine(words, &graph); });
  if (!read.ok()) return read;
  if (graph.symbol.empty()) return ingot::Malformed("the file is empty");
  return graph;
}

}  // namespace acme
