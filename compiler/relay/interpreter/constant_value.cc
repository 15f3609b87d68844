#include "compiler/relay/interpreter/constant_value.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"

namespace ingot::relay {
namespace {

// The most that one attribute of one node may cost: about a second.
constexpr int64_t kMaxIterations = 20000000;
constexpr size_t kMaxNodes = 10000;
constexpr size_t kMaxBytes = size_t{1} << 26;

// The calls that `value` depends on, operands before users.
absl::Status CollectCalls(const Value& value, std::vector<const Node*>* calls) {
  struct Frame {
    const Node* node;
    size_t next = 0;
  };
  std::set<const Node*> seen = {value.node};
  std::vector<Frame> stack = {{value.node}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const Node& node = *frame.node;
    if (node.kind != NodeKind::kOp && node.kind != NodeKind::kConstant) {
      return absl::FailedPreconditionError("depends on an input");
    }
    if (node.TakesSequences()) {
      return absl::FailedPreconditionError("depends on a sequence");
    }
    if (node.kind == NodeKind::kOp &&
        node.op->step == ExecutorStep::kRandomState) {
      return absl::FailedPreconditionError("is random");
    }
    for (const TensorType& type : node.outputs) {
      const auto shape = ConstShape(type.shape);
      if (!shape) return absl::FailedPreconditionError("has a symbolic shape");
      const absl::StatusOr<size_t> bytes = CountBytes(type.dtype, *shape);
      if (node.kind == NodeKind::kOp && (!bytes.ok() || *bytes > kMaxBytes)) {
        return absl::ResourceExhaustedError("depends on a very large tensor");
      }
    }
    for (const auto& [name, attr] : node.attrs.values()) {
      const auto* shape = std::get_if<Shape>(&attr);
      if (shape != nullptr && !ConstShape(*shape)) {
        return absl::FailedPreconditionError("depends on a symbol");
      }
    }
    if (node.kind == NodeKind::kOp && frame.next < node.inputs.size()) {
      const Node* operand = node.inputs[frame.next++].node;
      if (operand != nullptr && seen.insert(operand).second) {
        stack.push_back({operand});
      }
      continue;
    }
    if (node.kind == NodeKind::kOp) calls->push_back(&node);
    if (seen.size() > kMaxNodes) {
      return absl::ResourceExhaustedError("depends on too many nodes");
    }
    stack.pop_back();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> ConstantValue(const Value& value) {
  std::vector<const Node*> calls;
  INGOT_RETURN_IF_ERROR(CollectCalls(value, &calls));
  std::map<const Node*, std::vector<Tensor>> results;
  auto tensor_of = [&](const Value& v) {
    if (v.node->constant) return *v.node->constant;
    return results[v.node][v.index];
  };
  for (const Node* node : calls) {
    std::vector<Tensor> operands;
    for (const Value& in : node->inputs) {
      operands.push_back(in.node == nullptr ? Tensor() : tensor_of(in));
    }
    absl::StatusOr<std::vector<Tensor>> computed =
        EvaluateNode(*node, operands, kMaxIterations);
    if (!computed.ok()) {
      if (absl::IsDeadlineExceeded(computed.status())) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "computing it takes too long: ", computed.status().message()));
      }
      return computed.status();
    }
    results[node] = *std::move(computed);
  }
  return tensor_of(value);
}

}  // namespace ingot::relay
