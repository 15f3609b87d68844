#include "backends/examplejson/loader.h"

#include <vector>

#include "backends/examplejson/graph.h"
#include "backends/examplejson/name.h"
#include "base/status_macros.h"
#include "loaders/function_loader.h"

namespace ingot {
namespace {

using examplejson::Entry;
using examplejson::Graph;

// Each element of an output is computed by itself: its operands lie at the same
// place, or are the only element of their tensor.
absl::Status Run(const Graph& graph, absl::Span<void* const> tensors) {
  std::vector<float> v(graph.entries.size());
  auto output = tensors.end() - graph.outputs.size();
  for (size_t last : graph.outputs) {
    float* out = static_cast<float*>(*output++);
    for (int64_t i = 0; i < graph.entries[last].elements; ++i) {
      auto input = tensors.begin();
      for (size_t k = 0; k <= last; ++k) {
        const Entry& e = graph.entries[k];
        const float* from = e.values.data();
        if (e.op == "input") from = static_cast<float*>(*input++);
        const int64_t at = e.elements == 1 ? 0 : i;
        if (at >= e.elements) continue;  // only other outputs are made of it
        if (e.operands.empty()) v[k] = from[at];
        if (e.op == "add") v[k] = v[e.operands[0]] + v[e.operands[1]];
        if (e.op == "sub") v[k] = v[e.operands[0]] - v[e.operands[1]];
        if (e.op == "mul") v[k] = v[e.operands[0]] * v[e.operands[1]];
      }
      out[i] = v[last];
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedFunction> LoadGraph(const Artifact& artifact,
                                         LoadContext&) {
  INGOT_ASSIGN_OR_RETURN(const Graph graph,
                         examplejson::ReadGraph(artifact.content.view()));
  return CheckedFunction(
      graph.name, graph.spec,
      [graph](absl::Span<void* const> tensors) { return Run(graph, tensors); });
}

}  // namespace

absl::Status RegisterExamplejsonLoader(LoaderRegistry* registry) {
  return RegisterFunctionLoader(examplejson::kName, LoadGraph, registry);
}

}  // namespace ingot
