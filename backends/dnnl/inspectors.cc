#include "backends/dnnl/inspectors.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/dnnl/graph.h"
#include "base/status_macros.h"
#include "base/text/quote.h"

namespace ingot {
namespace {

using dnnl_backend::Attribute;
using dnnl_backend::Dims;
using dnnl_backend::Graph;
using dnnl_backend::Node;
using dnnl_backend::PostOp;
using dnnl_backend::TensorDecl;

std::string Name(const std::string& tensor) {
  return absl::StrCat("%", text::QuotedName(tensor));
}

std::string Typed(const Graph& graph, const std::string& tensor) {
  return absl::StrCat(Name(tensor), ": f32",
                      dnnl_backend::ToString(graph.shape(tensor)));
}

std::string ListOfTyped(const Graph& graph,
                        const std::vector<std::string>& tensors) {
  return absl::StrJoin(tensors, ", ",
                       [&](std::string* out, const std::string& tensor) {
                         absl::StrAppend(out, Typed(graph, tensor));
                       });
}

std::string ValueText(const Attribute& value) {
  if (const auto* dims = std::get_if<Dims>(&value)) {
    return dnnl_backend::ToString(*dims);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return text::QuotedString(*text);
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return absl::StrCat(*number);
  }
  return absl::StrCat(std::get<int64_t>(value));
}

// " then relu" or " then add(%x)": what happens to a result before it is
// stored.
std::string PostOpText(const PostOp& post) {
  if (!post.add.empty()) return absl::StrCat(" then add(", Name(post.add), ")");
  const bool has_numbers = post.alpha != 0 || post.beta != 0;
  return absl::StrCat(
      " then ", post.algorithm,
      has_numbers ? absl::StrCat("(", post.alpha, ", ", post.beta, ")") : "");
}

std::string NodeText(const Graph& graph, const Node& node) {
  std::string text = absl::StrCat(
      "  ", Typed(graph, node.output), " = ", node.op, "(",
      absl::StrJoin(node.inputs, ", ",
                    [](std::string* out, const std::string& input) {
                      absl::StrAppend(out, Name(input));
                    }),
      ")");
  if (!node.attributes.empty()) {
    absl::StrAppend(&text, " {",
                    absl::StrJoin(node.attributes, ", ",
                                  [](std::string* out, const auto& attribute) {
                                    absl::StrAppend(
                                        out, attribute.first, "=",
                                        ValueText(attribute.second));
                                  }),
                    "}");
  }
  for (const PostOp& post : node.post_ops) {
    absl::StrAppend(&text, PostOpText(post));
  }
  return absl::StrCat(text, "  # ", node.name, "\n");
}

absl::StatusOr<std::string> DescribeGraph(const Artifact& artifact,
                                          const ArtifactSet&) {
  INGOT_ASSIGN_OR_RETURN(const Graph graph,
                         dnnl_backend::ReadGraph(artifact.content.view()));
  std::string text =
      absl::StrCat(graph.symbol, "(", ListOfTyped(graph, graph.inputs),
                   ") -> (", ListOfTyped(graph, graph.outputs), ") {\n");
  for (const auto& [name, tensor] : graph.tensors) {
    if (tensor.constant.empty()) continue;
    absl::StrAppend(&text, "  ", Typed(graph, name), " = constant ",
                    text::QuotedString(tensor.constant), "\n");
  }
  for (const Node& node : graph.nodes) {
    absl::StrAppend(&text, NodeText(graph, node));
  }
  return absl::StrCat(text, "}\n");
}

}  // namespace

absl::Status RegisterDnnlInspectors(InspectorRegistry* registry) {
  InspectorRule rule;
  rule.name = "dnnl.graph";
  rule.loader = dnnl_backend::kName;
  rule.output_suffix = ".graph.txt";
  rule.inspect = DescribeGraph;
  return registry->Register(std::move(rule));
}

}  // namespace ingot
