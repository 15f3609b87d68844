// join_attention: the products around a softmax, as exporters write attention
// in parts, as one operator that keeps no scores.
//
//   matmul(softmax(add(mul(matmul(q, transpose(k)), scale), bias)), v)
//     -> attention(q, k, v, bias) {scale=scale}
#include <optional>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// All scores of fewer queries are a small matrix.
constexpr int64_t kFewestQueries = 16;
// So many pay with a bias for each query and key, which the loops of attention
// read across memory: 128 take a tenth longer, 1,024 a tenth less.
constexpr int64_t kFewestQueriesOfBias = 512;

// The node of `value`, which only one node reads, when it is a call of `op`,
// else null.
const Node* Part(const RuleContext& c, const Value& value,
                 absl::string_view op) {
  return value.node->Is(op) && c.SingleUse(value) ? value.node : nullptr;
}

// Takes factors off that are the same for all elements.
Value WithoutFactors(const RuleContext& c, Value value, double* scale) {
  for (;;) {
    const bool is_div = value.node->Is("div");
    const Node* node = Part(c, value, is_div ? "div" : "mul");
    if (node == nullptr ||
        !SameShape(node->inputs[0].type().shape, value.type().shape)) {
      return value;
    }
    const std::optional<double> factor = SplatOf(node->inputs[1]);
    if (!factor) return value;
    *scale = is_div ? *scale / *factor : *scale * *factor;
    value = node->inputs[0];
  }
}

// Whether the shapes are those of queries, keys and values by head.
bool Fit(const Shape& q, const Shape& k, const Shape& v) {
  return q.size() == 4 && k.size() == 4 && v.size() == 4 &&
         SameShape({q[0], q[1], q[3]}, {k[0], k[1], k[3]}) &&
         SameShape({k[0], k[1], k[2]}, {v[0], v[1], v[2]});
}

// Whether there are so many queries that attention takes no longer than its
// parts.
bool Pays(const Shape& q, const Value& bias) {
  int64_t queries;
  if (!tir::AsConstInt(q[2], &queries)) return true;
  if (bias.node == nullptr) return queries >= kFewestQueries;
  const Shape& shape = bias.type().shape;
  const bool by_query =
      shape.size() >= 2 && !tir::IsConstInt(shape[shape.size() - 2], 1);
  return queries >= (by_query ? kFewestQueriesOfBias : kFewestQueries);
}

// The keys, of which `turned` is the transpose; null where it is something
// else.
absl::StatusOr<Value> KeysOf(RuleContext& c, const Value& turned) {
  if (turned.type().shape.size() != 4 || !turned.node->Is("transpose")) {
    return Value{};
  }
  Ints axes = turned.node->attrs.Get<Ints>("axes");
  std::swap(axes[2], axes[3]);
  const Value& source = turned.node->inputs[0];
  if (axes == Ints{0, 1, 2, 3}) return source;
  return c.Add("transpose", {source}, {{"axes", axes}});
}

// The scores' parts: before the bias, and the bias, null where there is none.
std::pair<Value, Value> SplitBias(const RuleContext& c, const Value& scores) {
  const Node* add = Part(c, scores, "add");
  if (add == nullptr) return {scores, Value{}};
  double scale = 1;
  for (int i = 0; i < 2; ++i) {
    const Value part = WithoutFactors(c, add->inputs[i], &scale);
    if (Part(c, part, "matmul") != nullptr &&
        SameShape(part.type().shape, scores.type().shape)) {
      return {add->inputs[i], add->inputs[1 - i]};
    }
  }
  return {scores, Value{}};
}

absl::StatusOr<Value> Attention(RuleContext& c, const Node& node) {
  const Node* softmax = Part(c, node.inputs[0], "softmax");
  const TensorType& type = node.outputs[0];
  if (softmax == nullptr || !type.dtype.is_float() || type.shape.size() != 4 ||
      node.attrs.Has("out_dtype")) {
    return Value{};
  }
  const int64_t axis = softmax->attrs.Get<int64_t>("axis");
  if (axis != -1 && axis != 3) return Value{};
  const auto [scores, bias] = SplitBias(c, softmax->inputs[0]);
  double scale = 1;
  const Node* product = Part(c, WithoutFactors(c, scores, &scale), "matmul");
  if (product == nullptr || product->attrs.Has("out_dtype")) return Value{};
  const Value q = WithoutFactors(c, product->inputs[0], &scale);
  const Value turned = WithoutFactors(c, product->inputs[1], &scale);
  const Value v = node.inputs[1];
  Shape keys = turned.type().shape;
  if (keys.size() != 4) return Value{};
  std::swap(keys[2], keys[3]);
  if (!Fit(q.type().shape, keys, v.type().shape) ||
      !Pays(q.type().shape, bias)) {
    return Value{};
  }
  INGOT_ASSIGN_OR_RETURN(const Value k, KeysOf(c, turned));
  if (k.node == nullptr) return Value{};
  std::vector<Value> inputs = {q, k, v};
  if (bias.node != nullptr) inputs.push_back(bias);
  return c.Add("attention", inputs, {{"scale", scale}});
}

constexpr Rule kRules[] = {{"attention in parts", "matmul", 2, Attention}};

}  // namespace

absl::Span<const Rule> AttentionRules() { return kRules; }

absl::StatusOr<bool> JoinAttention(Module* module, PassContext* context) {
  if (!context->layouts.joins_attention) return false;
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    INGOT_ASSIGN_OR_RETURN(const bool joined,
                           ApplyRules(function.get(), kRules));
    changed = changed || joined;
  }
  return changed;
}

}  // namespace ingot::relay
