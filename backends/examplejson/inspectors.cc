#include "backends/examplejson/inspectors.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/examplejson/graph.h"
#include "backends/examplejson/name.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

using examplejson::Entry;
using examplejson::Graph;

// "%a: f32[2, 3]".
std::string Typed(const Entry& entry, const std::string& id) {
  return absl::StrCat("%", id, ": f32[", absl::StrJoin(entry.type.shape, ", "),
                      "]");
}

absl::StatusOr<std::string> DescribeGraph(const Artifact& artifact,
                                          const ArtifactSet&) {
  INGOT_ASSIGN_OR_RETURN(const Graph graph,
                         examplejson::ReadGraph(artifact.content.view()));
  std::vector<std::string> ids(graph.entries.size());
  for (const auto& [id, index] : graph.ids) ids[index] = id;
  std::vector<std::string> inputs, outputs;
  std::string lines;
  for (size_t i = 0; i < graph.entries.size(); ++i) {
    const Entry& entry = graph.entries[i];
    if (entry.op == "input") {
      inputs.push_back(Typed(entry, ids[i]));
    } else if (entry.op == "const") {
      absl::StrAppend(&lines, "  ", Typed(entry, ids[i]), " = {",
                      absl::StrJoin(entry.values, ", "), "}\n");
    } else {
      absl::StrAppend(&lines, "  ", Typed(entry, ids[i]), " = ", entry.op, "(%",
                      ids[entry.operands[0]], ", %", ids[entry.operands[1]],
                      ")\n");
    }
  }
  for (const size_t output : graph.outputs) {
    outputs.push_back(absl::StrCat("%", ids[output]));
  }
  return absl::StrCat(graph.name, "(", absl::StrJoin(inputs, ", "), ") -> (",
                      absl::StrJoin(outputs, ", "), ") {\n", lines, "}\n");
}

}  // namespace

absl::Status RegisterExamplejsonInspectors(InspectorRegistry* registry) {
  InspectorRule rule;
  rule.name = "examplejson.graph";
  rule.loader = examplejson::kName;
  rule.output_suffix = ".graph.txt";
  rule.inspect = DescribeGraph;
  return registry->Register(std::move(rule));
}

}  // namespace ingot
