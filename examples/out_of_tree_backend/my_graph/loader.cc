#include "my_graph/loader.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/call_spec.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

struct Graph {
  std::string symbol;
  CallSpec spec;
  int64_t elements = 0;
  std::vector<std::string> ops;
};

// The text may come from anywhere: everything in it is checked here, once.
absl::StatusOr<Graph> Parse(absl::string_view text) {
  Graph graph;
  std::vector<std::string> lines =
      absl::StrSplit(text, '\n', absl::SkipEmpty());
  if (lines.empty()) return absl::InvalidArgumentError("the file is empty");
  TensorSpec type{DataType::Float(32), {}};
  for (absl::string_view word : absl::StrSplit(lines[0], ' ')) {
    if (graph.symbol.empty()) {
      graph.symbol = std::string(word);
    } else if (!absl::SimpleAtoi(word, &type.shape.emplace_back())) {
      return absl::InvalidArgumentError("line 1: a dimension is no number");
    }
  }
  absl::StatusOr<int64_t> elements = CountElements(type.shape);
  if (!elements.ok()) return elements.status();
  graph.elements = *elements;
  graph.spec = {{type}, {type}};
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i] != "relu" && lines[i] != "neg") {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", i + 1, ": what is '", lines[i], "'?"));
    }
    graph.ops.push_back(lines[i]);
  }
  return graph;
}

absl::Status Run(const Graph& graph, absl::Span<const TVMFFIAny> args) {
  absl::StatusOr<std::vector<void*>> tensors =
      CheckCall(graph.symbol, graph.spec, args);
  if (!tensors.ok()) return tensors.status();
  const float* x = static_cast<const float*>((*tensors)[0]);
  float* y = static_cast<float*>((*tensors)[1]);
  for (int64_t i = 0; i < graph.elements; ++i) {
    float v = x[i];
    for (const std::string& op : graph.ops) {
      v = op == "neg" ? -v : v > 0 ? v : 0;
    }
    y[i] = v;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Module>> loadbinary_my_graph(
    absl::Span<const Artifact> group, LoadContext& context) {
  auto module = std::make_shared<TableModule>("my_graph");
  for (const Artifact& artifact : group) {
    absl::StatusOr<Graph> graph = Parse(artifact.content.view());
    if (!graph.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(artifact.file_name, ": ", graph.status().message()));
    }
    absl::Status added = module->Add(
        graph->symbol,
        Function::FromLambda(
            [graph = *graph](absl::Span<const TVMFFIAny> args,
                             TVMFFIAny* result) { return Run(graph, args); }));
    if (!added.ok()) return added;
  }
  return module;
}

}  // namespace

absl::Status RegisterMyGraphLoader(LoaderRegistry* registry) {
  return registry->Register("my_graph", loadbinary_my_graph);
}

}  // namespace ingot
