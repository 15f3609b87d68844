// Composites: what follows a product in its post-ops.
#include <optional>
#include <utility>

#include "backends/dnnl/operators.h"
#include "backends/dnnl/translate.h"
#include "backends/dnnl/translate_eltwise.h"
#include "backends/dnnl/translate_values.h"
#include "base/status_macros.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/op.h"

namespace ingot::dnnl_backend {
namespace {

using relay::Value;

// Adds what `node` does to the result of `step`, which it reads.
absl::Status Append(const relay::Node& node, const Bindings& bindings,
                    Step* step) {
  INGOT_ASSIGN_OR_RETURN(const Dims shape, ShapeOf(step->output));
  INGOT_ASSIGN_OR_RETURN(const Dims result,
                         ShapeOf(Value{const_cast<relay::Node*>(&node), 0}));
  const std::optional<std::string> algorithm = BinaryAlgorithm(node);
  if (shape != result) return No(node.op->name, " changes the shape");
  if (!algorithm) {
    if (node.inputs[0].node != step->output.node) {
      return No(node.op->name, " does not read what precedes it");
    }
    INGOT_ASSIGN_OR_RETURN(std::vector<PostOp> posts, EltwisePosts(node));
    for (PostOp& post : posts) {
      if (!IsNumber(post.alpha) || !IsNumber(post.beta)) {
        return No("a number of ", node.op->name, " is not finite");
      }
      step->posts.push_back({std::move(post), {}});
    }
    return absl::OkStatus();
  }
  const int other = node.inputs[0] == step->output ? 1 : 0;
  if (!(node.inputs[1 - other] == step->output)) {
    return No(node.op->name, " does not read what precedes it");
  }
  const Value value = Bound(node.inputs[other], bindings);
  if (value == step->output) return No("a result is combined with itself");
  INGOT_ASSIGN_OR_RETURN(const Dims operand, ShapeOf(value));
  if (std::optional<float> scalar = ScalarConstant(value)) {
    std::optional<PostOp> post =
        LinearPost(*algorithm, *scalar, /*scalar_first=*/other == 0);
    if (!post) return No(node.op->name, " with one number");
    step->posts.push_back({*post, {}});
    return absl::OkStatus();
  }
  if (*algorithm != "add") return No(node.op->name, " of two tensors");
  if (operand == shape) {
    for (const Post& post : step->posts) {
      if (post.add.node != nullptr) return No("two tensors are added");
    }
    // oneDNN's matrix products add before anything else.
    if (!step->posts.empty()) return No("a tensor is added after something");
    step->posts.push_back({{}, value});
    return absl::OkStatus();
  }
  // A bias: a constant vector along the channels, or along the columns.
  const bool is_conv = step->op == "convolution";
  if ((!is_conv && step->op != "inner_product" && step->op != "matmul") ||
      step->operands.size() != 2 || !step->posts.empty() ||
      value.node->kind != relay::NodeKind::kConstant) {
    return No("it adds a ", relay::ToString(value.type()));
  }
  const size_t axis = is_conv ? 1 : shape.size() - 1;
  if (!codegen::RunsAlong(operand, shape, axis)) {
    return No("it adds a ", relay::ToString(value.type()), " to a ",
              relay::ToString(step->output.type()));
  }
  step->operands.push_back({value, {shape[axis]}});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Step> TranslateComposite(absl::Span<relay::Node* const> nodes,
                                        const Bindings& bindings) {
  if (nodes.empty()) return No("there is no operator");
  INGOT_ASSIGN_OR_RETURN(Step step, TranslateOp(*nodes[0], bindings));
  if (nodes.size() > 1 && !FindOperator(step.op)->post_ops) {
    return No(nodes[0]->op->name, " takes nothing after it");
  }
  for (relay::Node* node : nodes.subspan(1)) {
    INGOT_RETURN_IF_ERROR(Append(*node, bindings, &step));
    step.node = node;
    step.output = Value{node, 0};
  }
  return step;
}

}  // namespace ingot::dnnl_backend
