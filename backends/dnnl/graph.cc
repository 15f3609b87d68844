#include "backends/dnnl/graph.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/dnnl/operators.h"
#include "base/status_macros.h"

namespace ingot::dnnl_backend {
namespace {

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckAttributes(const Node& node, const Operator& op) {
  for (const AttributeSpec& spec : op.attributes) {
    auto it = node.attributes.find(spec.name);
    if (it == node.attributes.end()) {
      return Invalid("attribute ", spec.name, " is missing");
    }
    const Attribute& value = it->second;
    bool fits = false;
    switch (spec.kind) {
      case AttributeSpec::kInt:
        fits = std::holds_alternative<int64_t>(value);
        break;
      case AttributeSpec::kFloat:
        fits = (std::holds_alternative<double>(value) ||
                std::holds_alternative<int64_t>(value)) &&
               IsNumber(node.Float(spec.name));
        break;
      case AttributeSpec::kInts:
        fits = std::holds_alternative<Dims>(value);
        break;
      case AttributeSpec::kString:
        fits = std::holds_alternative<std::string>(value) &&
               (spec.values.empty() ||
                std::find(spec.values.begin(), spec.values.end(),
                          std::get<std::string>(value)) != spec.values.end());
        break;
    }
    if (!fits) return Invalid("attribute ", spec.name, " has a wrong value");
  }
  if (node.attributes.size() > op.attributes.size()) {
    for (const auto& [name, value] : node.attributes) {
      bool known = false;
      for (const AttributeSpec& spec : op.attributes)
        known |= spec.name == name;
      if (!known) return Invalid("there is no attribute ", name);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPostOps(const Graph& graph, const Node& node,
                          const Operator& op) {
  if (!node.post_ops.empty() && !op.post_ops) {
    return Invalid("the operator takes no post_ops");
  }
  constexpr size_t kMost = 16;
  if (node.post_ops.size() > kMost) {
    return Invalid(node.post_ops.size(), " post_ops; ", kMost, " are allowed");
  }
  int sums = 0;
  for (const PostOp& post : node.post_ops) {
    if (post.add.empty()) {
      if (!IsEltwiseAlgorithm(post.algorithm)) {
        return Invalid("there is no element-wise algorithm '", post.algorithm,
                       "'");
      }
      for (double v : {post.alpha, post.beta}) {
        if (!IsNumber(v)) {
          return Invalid("a parameter of ", post.algorithm, " is out of range");
        }
      }
      continue;
    }
    if (++sums > 1) return Invalid("post_ops add more than one tensor");
    if (graph.shape(post.add) != graph.shape(node.output)) {
      return Invalid(
          "tensor ", post.add, " of shape ", ToString(graph.shape(post.add)),
          " is added to a result of ", ToString(graph.shape(node.output)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNode(const Graph& graph, const Node& node,
                       std::set<std::string>* written) {
  const Operator* op = FindOperator(node.op);
  if (op == nullptr) return Invalid("there is no operator '", node.op, "'");
  const size_t count = node.inputs.size();
  if (count < static_cast<size_t>(op->min_operands) ||
      (!op->variadic && count > op->operands.size())) {
    return Invalid(node.op, " has ", count, " operands, it takes ",
                   absl::StrJoin(op->operands, ", "));
  }
  std::vector<std::string> reads = node.inputs;
  for (const PostOp& post : node.post_ops) {
    if (!post.add.empty()) reads.push_back(post.add);
  }
  std::vector<Dims> shapes;
  for (const std::string& name : reads) {
    auto it = graph.tensors.find(name);
    if (it == graph.tensors.end()) {
      return Invalid("tensor ", name, " is not declared");
    }
    if (it->second.constant.empty() && written->count(name) == 0) {
      return Invalid("tensor ", name, " is read before it is written");
    }
    shapes.push_back(it->second.shape);
  }
  shapes.resize(count);
  auto output = graph.tensors.find(node.output);
  if (output == graph.tensors.end()) {
    return Invalid("tensor ", node.output, " is not declared");
  }
  if (!output->second.constant.empty() ||
      !written->insert(node.output).second) {
    return Invalid("tensor ", node.output, " is written twice");
  }
  INGOT_RETURN_IF_ERROR(CheckAttributes(node, *op));
  INGOT_ASSIGN_OR_RETURN(Dims shape, op->shape(node, shapes));
  if (shape != output->second.shape) {
    return Invalid("tensor ", node.output, " is declared with the shape ",
                   ToString(output->second.shape), ", the result has ",
                   ToString(shape));
  }
  return CheckPostOps(graph, node, *op);
}

}  // namespace

std::string ToString(const Dims& dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ", "), "]");
}

int64_t Node::Int(absl::string_view name) const {
  return std::get<int64_t>(attributes.at(std::string(name)));
}
double Node::Float(absl::string_view name) const {
  const Attribute& value = attributes.at(std::string(name));
  if (const int64_t* whole = std::get_if<int64_t>(&value)) {
    return static_cast<double>(*whole);
  }
  return std::get<double>(value);
}
const std::string& Node::String(absl::string_view name) const {
  return std::get<std::string>(attributes.at(std::string(name)));
}
const Dims& Node::Ints(absl::string_view name) const {
  return std::get<Dims>(attributes.at(std::string(name)));
}

absl::StatusOr<int64_t> CountElementsOf(const Dims& shape) {
  if (shape.empty() || shape.size() > static_cast<size_t>(kMaxRank)) {
    return Invalid("a shape of ", shape.size(), " dimensions; 1 to ", kMaxRank,
                   " are supported");
  }
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 1 || extent > kMaxElements / count) {
      return Invalid("the shape ", ToString(shape),
                     " is empty or larger than is supported");
    }
    count *= extent;
  }
  return count;
}

absl::Status CheckGraph(const Graph& graph) {
  if (graph.symbol.empty()) return Invalid("the graph has no symbol");
  if (graph.nodes.empty()) return Invalid("the graph has no nodes");
  if (graph.outputs.empty()) return Invalid("the graph has no outputs");
  for (const auto& [name, tensor] : graph.tensors) {
    if (absl::StatusOr<int64_t> n = CountElementsOf(tensor.shape); !n.ok()) {
      return Invalid("tensor ", name, ": ", n.status().message());
    }
  }
  std::set<std::string> written;
  for (const std::string& name : graph.inputs) {
    auto it = graph.tensors.find(name);
    if (it == graph.tensors.end() || !it->second.constant.empty() ||
        !written.insert(name).second) {
      return Invalid("input ", name,
                     " is not declared, is a constant or is named twice");
    }
  }
  for (const Node& node : graph.nodes) {
    if (absl::Status s = CheckNode(graph, node, &written); !s.ok()) {
      return Invalid("node ", node.name, ": ", s.message());
    }
  }
  for (const std::string& name : graph.outputs) {
    auto it = graph.tensors.find(name);
    if (it == graph.tensors.end() ||
        (it->second.constant.empty() && written.count(name) == 0)) {
      return Invalid("output ", name, " is never written");
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot::dnnl_backend
