// Graphs for oneDNN: what codegen writes as JSON. One that is small is loaded
// and run, too.
#include <cstdint>
#include <string>
#include <vector>

#include "backends/dnnl/graph.h"
#include "backends/dnnl/loader.h"
#include "base/status_macros.h"
#include "loaders/loader_registry.h"
#include "tests/fuzz/readers/load_and_run.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

using dnnl_backend::Graph;

// Whether oneDNN has little to do: the elements of all tensors together, and
// the numbers in attributes, such as paddings.
bool IsSmall(const Graph& graph) {
  constexpr int64_t kMost = 4096;
  int64_t total = 0;
  for (const auto& [name, tensor] : graph.tensors) {
    const auto elements = dnnl_backend::CountElementsOf(tensor.shape);
    if (!elements.ok() || *elements > kMost) return false;
    total += *elements;
  }
  return total <= kMost;
}

}  // namespace

std::vector<std::string> Seeds() {
  return {R"({"format": "ingot-dnnl", "version": 1,
 "symbol": "f",
 "inputs": ["x", "w"],
 "outputs": ["y"],
 "tensors": {
  "w": {"shape": [8, 4, 3, 3]},
  "x": {"shape": [1, 4, 6, 6]},
  "c": {"shape": [1, 8, 6, 6]},
  "y": {"shape": [1, 8, 6, 6]}
 },
 "nodes": [
  {"name": "n1", "op": "convolution", "inputs": ["x", "w"], "output": "c",
   "attributes": {"dilations": [1, 1], "groups": 1, "pads": [1, 1, 1, 1],
                  "strides": [1, 1]},
   "post_ops": [{"eltwise": "relu", "alpha": 0, "beta": 0}]},
  {"name": "n2", "op": "eltwise", "inputs": ["c"], "output": "y",
   "attributes": {"algorithm": "linear", "alpha": 2, "beta": 0.5}}
 ]}
)",
          R"({"format": "ingot-dnnl", "version": 1, "symbol": "f",
 "inputs": ["x"], "outputs": ["s"],
 "tensors": {
  "x": {"shape": [2, 3]}, "w": {"shape": [3, 5], "constant": "weights"},
  "s": {"shape": [2, 3]}},
 "nodes": [
  {"name": "e", "op": "eltwise", "inputs": ["x"], "output": "s",
   "attributes": {"algorithm": "clip", "alpha": -1, "beta": 6},
   "post_ops": [{"add": "x"}]}]}
)"};
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const absl::StatusOr<Graph> graph = dnnl_backend::ReadGraph(bytes);
  if (!graph.ok()) return false;
  const std::string written = WriteGraph(*graph);
  INGOT_ASSIGN_OR_RETURN(const Graph again, dnnl_backend::ReadGraph(written));
  if (WriteGraph(again) != written) {
    return absl::InternalError("written and read, the graph is another one");
  }
  if (!IsSmall(*graph)) return true;
  LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(RegisterDnnlLoader(&loaders));
  INGOT_RETURN_IF_ERROR(
      LoadAndRun(loaders, dnnl_backend::kName, "f.dnnl.json", bytes).status());
  return true;
}

}  // namespace ingot::fuzz
