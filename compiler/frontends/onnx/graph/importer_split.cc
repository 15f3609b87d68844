// A branch whose results differ in rank: the rest of the graph becomes part of
// both of its sides. Where that graph is inside of another, and its own results
// still differ, so does the rest of that one.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "compiler/frontends/onnx/graph/branches.h"
#include "compiler/frontends/onnx/graph/importer.h"

namespace ingot::onnx_frontend {
namespace {

// Graphs may be split at branches to this depth, graphs inside graphs included.
constexpr int kMaxSplits = 12;

// The first result that differs in rank between two sides; -1: none.
int ResultOfOpenRank(const relay::Function& yes, const relay::Function& no) {
  for (size_t i = 0; i < yes.outputs.size() && i < no.outputs.size(); ++i) {
    const TensorType& a = yes.outputs[i].type();
    const TensorType& b = no.outputs[i].type();
    if (a.is_sequence || b.is_sequence) continue;
    if (a.shape.size() != b.shape.size()) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

absl::StatusOr<std::vector<Binding>> Importer::ImportSide(
    const onnx::NodeProto& node, const onnx::GraphProto& side,
    absl::Span<const onnx::NodeProto* const> after, Scope* scope,
    const Rest& rest) {
  if (depth_ >= kMaxSplits) {
    return absl::UnimplementedError("too many branches of different ranks");
  }
  Scope inside;
  inside.parent = scope;
  inside.function = builder_.current();
  INGOT_RETURN_IF_ERROR(AddInitializers(side, &inside, false));
  Rest go_on;
  go_on.results = rest.results;
  go_on.import = [&](Scope* end) -> absl::StatusOr<std::vector<Binding>> {
    std::vector<std::string> names;
    for (const auto& output : side.output()) names.push_back(output.name());
    INGOT_ASSIGN_OR_RETURN(std::vector<Binding> outputs,
                           FindResults(end, names));
    // A scope of its own: the graph inside may have names that the one around
    // it has, too.
    Scope around;
    around.parent = scope;
    around.function = builder_.current();
    for (int i = 0; i < node.output_size(); ++i) {
      if (i < static_cast<int>(outputs.size()) && !node.output(i).empty()) {
        around.names[node.output(i)] = std::move(outputs[i]);
      }
    }
    return ImportNodes(after, &around, rest);
  };
  ++depth_;
  absl::StatusOr<std::vector<Binding>> results =
      ImportNodes(PointersTo(side.node()), &inside, go_on);
  --depth_;
  return results;
}

absl::StatusOr<std::vector<Binding>> Importer::SplitAt(
    const onnx::NodeProto& node, Branch branch,
    absl::Span<const onnx::NodeProto* const> after, Scope* scope,
    const Rest& rest) {
  const std::string name = node.name().empty() ? node.op_type() : node.name();
  INGOT_ASSIGN_OR_RETURN(const int opset, OpsetOf(""));
  NodeContext c(this, node, opset, name, {&branch.condition});
  const absl::StatusOr<Tensor> condition = c.ConstantInput(0, "condition");
  if (condition.ok()) {
    const int taken = condition->values<bool>()[0] ? 0 : 1;
    return ImportSide(node, *branch.graphs[taken], after, scope, rest);
  }
  relay::Body bodies[2];
  relay::Body* sides[2] = {nullptr, nullptr};
  absl::Status failure;
  for (int i = 0; i < 2; ++i) {
    absl::StatusOr<relay::Body> body = builder_.BuildBody(
        absl::StrCat(name, i == 0 ? "_then" : "_else"), [&]() -> absl::Status {
          INGOT_ASSIGN_OR_RETURN(
              std::vector<Binding> results,
              ImportSide(node, *branch.graphs[i], after, scope, rest));
          return AddResults(std::move(results), rest.results);
        });
    if (body.ok()) {
      bodies[i] = *std::move(body);
      sides[i] = &bodies[i];
    } else if (!absl::IsInvalidArgument(body.status()) || !failure.ok()) {
      return body.status();
    } else {
      failure = body.status();
    }
  }
  absl::StatusOr<std::vector<Value>> values =
      JoinSides(c, sides[0], sides[1], rest.results);
  if (!values.ok()) {
    return Annotate(values.status(),
                    absl::StrCat("node '", name, "' (", node.op_type(), ")"));
  }
  std::vector<Binding> results;
  for (const Value& value : *values) {
    value.node->sources = {name};
    results.emplace_back().value = value;
  }
  return results;
}

absl::StatusOr<std::vector<Value>> Importer::JoinSides(
    NodeContext& c, relay::Body* yes, relay::Body* no,
    const std::vector<std::string>& results) {
  const int i = yes != nullptr && no != nullptr
                    ? ResultOfOpenRank(*yes->function, *no->function)
                    : -1;
  if (i < 0) return JoinBranches(c, yes, no);
  const absl::Status failure = c.NotSupported(
      "a run decides the rank of its result, and so that of '", results[i],
      "', which is ", relay::ToString(yes->function->outputs[i].type()), " or ",
      relay::ToString(no->function->outputs[i].type()),
      "; a result must have one rank. Where it follows from shapes, give the "
      "model's inputs theirs (--input-shape)");
  builder_.module().RemoveFunction(yes->name);
  builder_.module().RemoveFunction(no->name);
  rank_is_open_ = true;
  return failure;
}

}  // namespace ingot::onnx_frontend
