// A branch whose results differ in rank: the rest of the graph becomes part of
// both of its sides.
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/branches.h"
#include "compiler/frontends/onnx/graph/importer.h"

namespace ingot::onnx_frontend {
namespace {

// Graphs may be split at branches to this depth, graphs inside graphs included.
constexpr int kMaxSplits = 12;

}  // namespace

absl::Status Importer::Split(const onnx::NodeProto& node,
                             const std::string& name,
                             const onnx::GraphProto& branch,
                             absl::Span<const onnx::NodeProto* const> rest,
                             const std::vector<std::string>& results,
                             const Scope* scope) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Binding> outputs, Inline(branch, {}));
  Scope inner;
  inner.parent = scope;
  inner.function = builder_.current();
  for (int i = 0; i < node.output_size(); ++i) {
    if (i < static_cast<int>(outputs.size()) && !node.output(i).empty()) {
      inner.names[node.output(i)] = std::move(outputs[i]);
    }
  }
  ++depth_;
  const absl::Status status =
      depth_ > kMaxSplits
          ? absl::UnimplementedError(absl::StrCat(
                "node '", name, "': too many branches of different ranks"))
          : ImportNodes(rest, results, &inner);
  --depth_;
  INGOT_RETURN_IF_ERROR(status);
  for (const std::string& result : results) {
    INGOT_ASSIGN_OR_RETURN(Binding * binding, Find(&inner, result));
    if (binding == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", result, "' is computed by no node"));
    }
    INGOT_RETURN_IF_ERROR(CheckCanLeave(*binding));
    INGOT_ASSIGN_OR_RETURN(Value value, MaterializeAny(binding, result));
    builder_.function()->outputs.push_back(value);
  }
  return absl::OkStatus();
}

namespace {

// The branch between what its sides make of the rest of the graph. One of them
// may be null.
absl::StatusOr<std::vector<Value>> JoinSides(
    NodeContext& c, Body* yes, Body* no,
    const std::vector<std::string>& results) {
  for (size_t i = 0; i < results.size() && yes && no; ++i) {
    const TensorType& a = yes->function->outputs[i].type();
    const TensorType& b = no->function->outputs[i].type();
    if (a.is_sequence || b.is_sequence || a.shape.size() == b.shape.size())
      continue;
    return absl::UnimplementedError(absl::StrCat(
        "its branches differ in rank, and so does '", results[i],
        "', which is ", relay::ToString(a), " or ", relay::ToString(b),
        " as its condition is in a run; a result must have one rank. Where the "
        "condition follows from shapes, give the model's inputs theirs "
        "(--input-shape)"));
  }
  return JoinBranches(c, yes, no);
}

}  // namespace

absl::Status Importer::SplitAt(const onnx::NodeProto& node,
                               absl::Span<const onnx::NodeProto* const> rest,
                               const std::vector<std::string>& results,
                               Scope* scope) {
  const std::string name = node.name().empty() ? "If" : node.name();
  INGOT_ASSIGN_OR_RETURN(const int opset, OpsetOf(""));
  INGOT_ASSIGN_OR_RETURN(Binding * condition, Find(scope, node.input(0)));
  NodeContext c(this, node, opset, name, {condition});
  Body bodies[2];
  Body* sides[2] = {nullptr, nullptr};
  absl::Status failure;
  for (int i = 0; i < 2; ++i) {
    const onnx::GraphProto* branch =
        c.Graph(i == 0 ? "then_branch" : "else_branch");
    absl::StatusOr<Body> body = builder_.BuildBody(
        absl::StrCat(name, i == 0 ? "_then" : "_else"),
        [&] { return Split(node, name, *branch, rest, results, scope); });
    if (body.ok()) {
      bodies[i] = *std::move(body);
      sides[i] = &bodies[i];
    } else if (!absl::IsInvalidArgument(body.status()) || !failure.ok()) {
      return body.status();
    } else {
      failure = body.status();
    }
  }
  const absl::StatusOr<std::vector<Value>> values =
      JoinSides(c, sides[0], sides[1], results);
  if (!values.ok()) {
    return absl::Status(
        values.status().code(),
        absl::StrCat("node '", name, "' (If): ", values.status().message()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    (*values)[i].node->sources = {name};
    Binding binding;
    binding.value = (*values)[i];
    scope->names.emplace(results[i], std::move(binding));
  }
  return absl::OkStatus();
}

}  // namespace ingot::onnx_frontend
