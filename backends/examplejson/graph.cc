#include "backends/examplejson/graph.h"

#include "loaders/function_loader.h"
#include "loaders/text_lines.h"

namespace ingot::examplejson {
namespace {

// Only lines above have an id already, so there is no cycle.
absl::Status FindIds(const Graph& graph, Words words,
                     std::vector<size_t>* found) {
  for (absl::string_view word : words) {
    auto it = graph.ids.find(word);
    if (it == graph.ids.end()) {
      return Malformed("'", word, "' is no id of a line above");
    }
    found->push_back(it->second);
  }
  return absl::OkStatus();
}

absl::Status ReadLine(Words words, Graph* graph) {
  const absl::string_view op = words[0];
  if (graph->name.empty()) {
    graph->name = std::string(op);
    if (words.size() == 1) return absl::OkStatus();
    return Malformed("the first line must be the graph's name");
  }
  if (!graph->outputs.empty()) return Malformed("a line after the outputs");
  if (op == "outputs") {
    return FindIds(*graph, words.subspan(1), &graph->outputs);
  }
  const bool is_input = op == "input", is_const = op == "const";
  const bool is_binary = op == "add" || op == "sub" || op == "mul";
  if (!is_input && !is_const && !is_binary) {
    return Malformed("what is '", op, "'?");
  }
  if (words.size() < 2 || graph->ids.count(words[1]) > 0) {
    return Malformed(op, " needs an id of its own");
  }
  Entry entry{std::string(op), {DataType::Float(32), {}}, 0, {}, {}};
  absl::Status status =
      ReadShape(is_input ? words.subspan(2) : Behind("shape:", words),
                &entry.type.shape, &entry.elements);
  status.Update(ReadNumbers(Behind("values:", words), &entry.values));
  status.Update(FindIds(*graph, Behind("inputs:", words), &entry.operands));
  if (!status.ok()) return status;
  const size_t values = is_const ? entry.elements : 0;
  const size_t operands = is_binary ? 2 : 0;
  if (entry.values.size() != values || entry.operands.size() != operands) {
    return Malformed(op, " needs ", operands, " inputs, ", values, " values");
  }
  for (size_t i : entry.operands) {
    const int64_t n = graph->entries[i].elements;
    if (n == entry.elements || n == 1) continue;
    return Malformed("an input of ", n, " elements, not ", entry.elements);
  }
  if (is_input) graph->spec.inputs.push_back(entry.type);
  graph->ids.emplace(words[1], graph->entries.size());
  graph->entries.push_back(entry);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> ReadGraph(absl::string_view text) {
  Graph graph;
  absl::Status read =
      ReadLines(text, [&](Words words) { return ReadLine(words, &graph); });
  if (!read.ok()) return read;
  if (graph.entries.empty()) return Malformed("the graph has no values");
  // Without a line that says so, the last value is the output.
  if (graph.outputs.empty()) graph.outputs = {graph.entries.size() - 1};
  for (size_t i : graph.outputs) {
    graph.spec.outputs.push_back(graph.entries[i].type);
  }
  return graph;
}

}  // namespace ingot::examplejson
