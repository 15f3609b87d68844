// Rules that find one operator in what a model's exporter spelled out.
#include <cmath>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

bool Near(std::optional<double> value, double expected) {
  return value.has_value() &&
         std::abs(*value - expected) <= 1e-5 * std::abs(expected);
}

// The node of `value` when it is a call of `op`, else null.
const Node* Call(const Value& value, absl::string_view op) {
  return value.node->Is(op) ? value.node : nullptr;
}

// Whether `reduce` is the mean over the last dimension only, which stays as 1.
bool IsRowMean(const Node& reduce) {
  if (!reduce.Is("reduce_mean") || reduce.attrs.Get<int64_t>("keepdims") == 0) {
    return false;
  }
  const int64_t rank =
      static_cast<int64_t>(reduce.inputs[0].type().shape.size());
  const Ints* const axes = reduce.attrs.Find<Ints>("axes");
  return axes != nullptr && axes->size() == 1 &&
         ((*axes)[0] == -1 || (*axes)[0] == rank - 1);
}

// mean(d * d) + epsilon, where d is `centred`; the epsilon.
std::optional<double> VarianceOf(const Value& value, const Value& centred) {
  const Node* sum = Call(value, "add");
  if (sum == nullptr) return std::nullopt;
  const std::optional<double> epsilon = SplatOf(sum->inputs[1]);
  const Node* mean = sum->inputs[0].node;
  if (!epsilon || !IsRowMean(*mean)) return std::nullopt;
  const Node* square = Call(mean->inputs[0], "mul");
  if (square == nullptr || !(square->inputs[0] == centred) ||
      !(square->inputs[1] == centred)) {
    return std::nullopt;
  }
  return epsilon;
}

// x - mean(x) along rows; x, or null.
Value CentredOf(const Value& value) {
  const Node* sub = Call(value, "sub");
  if (sub == nullptr || !IsRowMean(*sub->inputs[1].node) ||
      !(sub->inputs[1].node->inputs[0] == sub->inputs[0])) {
    return Value{};
  }
  return sub->inputs[0];
}

// A constant for the last dimension of `type`.
bool IsRow(const Value& value, const TensorType& type) {
  const Tensor* constant = ConstantOf(value);
  return constant != nullptr && constant->dtype() == type.dtype &&
         constant->shape().size() == 1 && !type.shape.empty() &&
         tir::IsConstInt(type.shape.back(), constant->shape()[0]);
}

// (x - mean) / sqrt(var + epsilon) [* scale] [+ bias]. This finds the division;
// the next rules add what follows.
absl::StatusOr<Value> LayerNorm(RuleContext& c, const Node& node) {
  const TensorType& type = node.outputs[0];
  const Node* root = Call(node.inputs[1], "sqrt");
  if (root == nullptr || !type.dtype.is_float() || type.shape.empty()) {
    return Value{};
  }
  const Value x = CentredOf(node.inputs[0]);
  int64_t width;
  // An epsilon of more dimensions would give the result more than x has.
  if (x.node == nullptr || !SameShape(type.shape, x.type().shape) ||
      !tir::AsConstInt(type.shape.back(), &width)) {
    return Value{};
  }
  const std::optional<double> epsilon =
      VarianceOf(root->inputs[0], node.inputs[0]);
  if (!epsilon) return Value{};
  INGOT_ASSIGN_OR_RETURN(Value scale, c.Splat(type.dtype, {width}, 1));
  return c.Add("layer_norm", {x, scale},
               {{"axis", int64_t{-1}}, {"epsilon", *epsilon}});
}

bool IsLastAxisNorm(const Node& norm) {
  const int64_t rank = static_cast<int64_t>(norm.outputs[0].shape.size());
  const int64_t axis = norm.attrs.Get<int64_t>("axis");
  return axis == -1 || axis == rank - 1;
}

absl::StatusOr<Value> LayerNormScale(RuleContext& c, const Node& node) {
  const Value y = node.inputs[0];
  const Node* norm = Call(y, "layer_norm");
  if (norm == nullptr || norm->inputs.size() != 2 || !c.SingleUse(y) ||
      !IsLastAxisNorm(*norm) || SplatOf(norm->inputs[1]) != 1.0 ||
      !IsRow(node.inputs[1], y.type()) || !IsRow(norm->inputs[1], y.type())) {
    return Value{};
  }
  return c.Add("layer_norm", {norm->inputs[0], node.inputs[1]}, norm->attrs);
}

absl::StatusOr<Value> LayerNormBias(RuleContext& c, const Node& node) {
  const Value y = node.inputs[0];
  const Node* norm = Call(y, "layer_norm");
  if (norm == nullptr || norm->inputs.size() != 2 || !c.SingleUse(y) ||
      !IsLastAxisNorm(*norm) || !IsRow(node.inputs[1], y.type())) {
    return Value{};
  }
  return c.Add("layer_norm", {norm->inputs[0], norm->inputs[1], node.inputs[1]},
               norm->attrs);
}

// The factors of a product tree, down to `depth` products.
void Factors(const Value& value, int depth, std::vector<Value>* factors) {
  if (value.node->Is("mul") && depth > 0) {
    Factors(value.node->inputs[0], depth - 1, factors);
    Factors(value.node->inputs[1], depth - 1, factors);
  } else {
    factors->push_back(value);
  }
}

// x * 0.5 * (1 + erf(x / sqrt(2))), in any order of the factors.
absl::StatusOr<Value> Gelu(RuleContext& c, const Node& node) {
  if (!node.outputs[0].dtype.is_float()) return Value{};
  std::vector<Value> factors;
  Factors(Value{const_cast<Node*>(&node)}, 2, &factors);
  if (factors.size() != 3) return Value{};
  Value x, phi;
  bool half = false;
  for (const Value& f : factors) {
    if (Near(SplatOf(f), 0.5)) {
      half = true;
    } else if (f.node->Is("add") && Near(SplatOf(f.node->inputs[1]), 1) &&
               f.node->inputs[0].node->Is("erf")) {
      phi = f.node->inputs[0].node->inputs[0];
    } else {
      x = f;
    }
  }
  if (!half || x.node == nullptr || phi.node == nullptr) return Value{};
  const Node* scaled = Call(phi, "mul");
  if (scaled == nullptr || !(scaled->inputs[0] == x) ||
      !Near(SplatOf(scaled->inputs[1]), std::sqrt(0.5)) ||
      !SameShape(node.outputs[0].shape, x.type().shape)) {
    return Value{};
  }
  return c.Add("gelu", {x});
}

// matmul(a, transpose(b)) of matrices -> dense(a, b).
absl::StatusOr<Value> Dense(RuleContext& c, const Node& node) {
  const Node* transpose = Call(node.inputs[1], "transpose");
  if (transpose == nullptr || transpose->outputs[0].shape.size() != 2 ||
      transpose->attrs.Get<Ints>("axes") != Ints{1, 0}) {
    return Value{};
  }
  return c.Add("dense", {node.inputs[0], transpose->inputs[0]}, node.attrs);
}

constexpr Rule kRules[] = {
    {"layer norm", "div", 2, LayerNorm},
    {"scale of a layer norm", "mul", 2, LayerNormScale},
    {"bias of a layer norm", "add", 2, LayerNormBias},
    {"gelu", "mul", 2, Gelu},
    {"product with a transposed matrix", "matmul", 2, Dense},
};

}  // namespace

absl::Span<const Rule> PatternRules() { return kRules; }

}  // namespace ingot::relay
