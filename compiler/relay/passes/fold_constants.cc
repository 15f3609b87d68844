// fold_constants: what depends on constants alone becomes a constant.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/status_macros.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/quantized_operands.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

// The interpreter takes a while for large sums; they run faster in the model.
constexpr int64_t kMaxSums = 1 << 16;
// The most multiplications of a matrix product, which has a short cut: about a
// second.
constexpr double kMaxMultiplications = 1e9;
// The most that folding may cost: about a second.
constexpr int64_t kMaxIterations = 20'000'000;
constexpr int64_t kFloatBytes = 4;

// Bytes of the model's own constants that the operands are made from. Folded
// constants carry theirs as an attribute, since the pass runs several times.
constexpr char kOrigin[] = "origin";

int64_t OriginBytes(const Node& node) {
  int64_t bytes = 0;
  for (const Value& input : node.inputs) {
    const Tensor* constant = ConstantOf(input);
    if (constant == nullptr) continue;
    const auto* const origin = input.node->attrs.Find<int64_t>(kOrigin);
    bytes +=
        origin != nullptr ? *origin : static_cast<int64_t>(constant->bytes());
  }
  return bytes;
}

// Whether the call is a matrix product of f32, which has a short cut, and not
// too large. When the sizes of [m, k], [k, n] and the result are multiplied,
// the square root of that is m * k * n.
bool IsQuickProduct(const Node& node, int64_t elements) {
  if (node.op->compute_known == nullptr ||
      node.outputs[0].dtype != DataType::Float(32)) {
    return false;
  }
  auto sizes = static_cast<double>(elements);
  for (const Value& input : node.inputs) {
    sizes *= static_cast<double>(ConstantOf(input)->NumElements());
  }
  return std::sqrt(sizes) <= kMaxMultiplications;
}

// Whether to keep the results in the set rather than compute them in each run:
// when they are small, or not much larger than those constants of the model
// that they are made from, by however many steps. What is made of attributes
// and shapes alone, such as an attention mask, stays a computation beyond that:
// a kernel that reads it generates it on the way, for less than loading costs.
bool IsWorthStoring(const Node& node, int64_t fold_bytes) {
  int64_t results = 0, elements = 0, operands = 0;
  for (const TensorType& type : node.outputs) {
    const auto shape = ConstShape(type.shape);
    if (!shape) return false;
    const absl::StatusOr<size_t> bytes = CountBytes(type.dtype, *shape);
    if (!bytes.ok()) return false;
    results += static_cast<int64_t>(*bytes);
    elements += static_cast<int64_t>(*bytes / type.dtype.bytes());
  }
  for (const Value& input : node.inputs) {
    if (const Tensor* constant = ConstantOf(input)) {
      operands += static_cast<int64_t>(constant->bytes());
    }
  }
  const bool sums =
      node.op->IsReduction() || node.op->fusion == FusionKind::kOpaque;
  if (sums && std::max(elements, operands) > kMaxSums &&
      !IsQuickProduct(node, elements)) {
    return false;
  }
  // In elements too: the interpreter takes as long for a byte as for a float.
  const bool small =
      results <= fold_bytes && elements <= fold_bytes / kFloatBytes;
  return small || results <= 4 * OriginBytes(node);
}

// Whether weights stay quantised for now: a target takes them as they are, or
// the host may, and no other target is asked what it takes.
bool KeepsQuantized(const PassContext& context) {
  if (context.partitioned) return false;
  if (TakesDequantized(context)) return true;
  return context.layouts.byte_words &&
         std::none_of(context.targets.begin(), context.targets.end(),
                      [](const TargetChoice& t) { return !t.kind->IsHost(); });
}

bool DequantizesBytes(const Node& node) {
  return node.op->Has(kDequantizes) && node.inputs[0].type().dtype.bits == 8;
}

absl::StatusOr<bool> FoldFunction(Function* function, PassContext* context) {
  // Constants are appended and moved into order at the end; only nodes that
  // are there now need a look, in order.
  std::vector<Node*> nodes;
  for (const auto& node : function->nodes()) nodes.push_back(node.get());
  std::map<Value, Value> folded;
  const bool keeps_quantized = KeepsQuantized(*context);
  for (Node* node : nodes) {
    for (Value& input : node->inputs) {
      auto it = folded.find(input);
      if (it != folded.end()) input = it->second;
    }
    if (node->kind != NodeKind::kOp || node->IsExecutorStep() ||
        node->op->BackendOnly() || !IsKnown(*node) ||
        (keeps_quantized && DequantizesBytes(*node)) ||
        !IsWorthStoring(*node, context->fold_bytes)) {
      continue;
    }
    absl::StatusOr<std::vector<Tensor>> results =
        EvaluateNode(*node, kMaxIterations);
    if (absl::IsDeadlineExceeded(results.status())) continue;
    // Undefined arithmetic, such as the least integer divided by -1, is the
    // run's business, which may never come to it.
    if (absl::IsInvalidArgument(results.status())) continue;
    if (!results.ok()) return results.status();
    for (size_t i = 0; i < results->size(); ++i) {
      Node* constant = function->AddConstant(node->name, (*results)[i]);
      constant->sources.Add(node->sources);
      constant->attrs.Set(kOrigin, OriginBytes(*node));
      if (i == 0) std::swap(constant->name, node->name);
      folded[Value{node, static_cast<int>(i)}] = Value{constant};
    }
  }
  if (folded.empty()) return false;
  for (Value& output : function->outputs) {
    auto it = folded.find(output);
    if (it != folded.end()) output = it->second;
  }
  function->RemoveDead();
  INGOT_RETURN_IF_ERROR(function->Sort());
  return true;
}

}  // namespace

absl::StatusOr<bool> FoldConstants(Module* module, PassContext* context) {
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    INGOT_ASSIGN_OR_RETURN(bool now, FoldFunction(function.get(), context));
    changed |= now;
  }
  return changed;
}

}  // namespace ingot::relay
