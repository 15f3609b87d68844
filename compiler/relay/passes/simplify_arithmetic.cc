// Rules on element-wise arithmetic. Those that change the rounding of floats
// say so.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Whether the call's result has the type of that operand.
bool KeepsType(const Node& node, const Value& operand) {
  return node.outputs[0].dtype == operand.type().dtype &&
         SameShape(node.outputs[0].shape, operand.type().shape);
}

// Floats whose results are not rounded a second time when two steps join.
bool IsWideFloat(DataType t) { return t.is_float() && t.bits >= 32; }

// c + x -> x + c, of operators that commute, so that other rules look for
// constants on the right only.
absl::StatusOr<Value> ConstantRight(RuleContext& c, const Node& node) {
  if (ConstantOf(node.inputs[0]) == nullptr ||
      ConstantOf(node.inputs[1]) != nullptr) {
    return Value{};
  }
  return c.Add(node.op->name, {node.inputs[1], node.inputs[0]});
}

// x + 0, x - 0, x * 1, x / 1, x ^ 1. (-0 + 0 is 0, not -0: nobody minds.)
absl::StatusOr<Value> Neutral(RuleContext&, const Node& node) {
  const double neutral = node.Is("add") || node.Is("sub") ? 0 : 1;
  const std::optional<double> splat = SplatOf(node.inputs[1]);
  if (splat != neutral || !KeepsType(node, node.inputs[0])) return Value{};
  return node.inputs[0];
}

// A constant of equal elements -> one element, which kernels hold themselves.
absl::StatusOr<Value> SplatAsScalar(RuleContext& c, const Node& node) {
  if (node.op->fusion != FusionKind::kBroadcast || node.inputs.size() != 2 ||
      node.attrs.values().size() > 0 || ConstantOf(node.inputs[0]) != nullptr) {
    return Value{};
  }
  const Value constant = node.inputs[1];
  const Shape& x = node.inputs[0].type().shape;
  if (ConstantOf(constant) == nullptr || constant.type().shape.empty() ||
      !SameShape(x, node.outputs[0].shape)) {
    return Value{};
  }
  const std::optional<double> splat = SplatOf(constant);
  // Only what a double holds exactly.
  if (!splat || std::abs(*splat) > (int64_t{1} << 52)) return Value{};
  INGOT_ASSIGN_OR_RETURN(Value scalar,
                         c.Splat(constant.type().dtype, {}, *splat));
  return c.Add(node.op->name, {node.inputs[0], scalar});
}

// x - c -> x + -c.
absl::StatusOr<Value> SubConstant(RuleContext& c, const Node& node) {
  if (ConstantOf(node.inputs[1]) == nullptr ||
      ConstantOf(node.inputs[0]) != nullptr ||
      !node.outputs[0].dtype.is_float()) {
    return Value{};
  }
  INGOT_ASSIGN_OR_RETURN(Value negative, c.Add("neg", {node.inputs[1]}));
  return c.Add("add", {node.inputs[0], negative});
}

bool IsOneElement(const TensorType& type) {
  return std::all_of(type.shape.begin(), type.shape.end(),
                     [](const Dim& dim) { return tir::IsConstInt(dim, 1); });
}

// x / c -> x * (1 / c): rounds twice instead of once, for a multiplication,
// which also joins with others. Not where 1 / c is not a normal number, where
// the last bit decides, nor for one element, which gains nothing: it may be the
// scale that others are quantised by.
absl::StatusOr<Value> DivConstant(RuleContext& c, const Node& node) {
  const Tensor* divisor = ConstantOf(node.inputs[1]);
  if (divisor == nullptr || ConstantOf(node.inputs[0]) != nullptr ||
      node.outputs[0].dtype != DataType::Float(32) || c.FeedsJump(node) ||
      IsOneElement(node.outputs[0])) {
    return Value{};
  }
  for (float value : divisor->values<float>()) {
    if (!std::isnormal(value) || !std::isnormal(1 / value)) return Value{};
  }
  INGOT_ASSIGN_OR_RETURN(Value factor, c.Add("reciprocal", {node.inputs[1]}));
  return c.Add("mul", {node.inputs[0], factor});
}

// Whether two constants may become one factor: products of their elements are
// finite and have all of their digits. (0 * 1e30) * 1e30 is 0, but 0 times
// infinity a NaN, and (1e30 * 1e-30) * 1e-30 is not 0.
bool FactorsJoin(const Tensor& a, const Tensor& b) {
  const FloatSizes sizes = SizesOf(a.dtype());
  double least = 1;
  for (const Tensor* t : {&a, &b}) {
    double size = kInf;
    for (int64_t i = 0; i < t->NumElements(); ++i) {
      size = std::min(size, std::abs(NumberAt(*t, i)));
    }
    least *= size;
  }
  return least >= sizes.least && LargestSize(a) * LargestSize(b) <= sizes.most;
}

// (x + c) + d -> x + (c + d), and the same for *. Rounds differently.
absl::StatusOr<Value> JoinConstants(RuleContext& c, const Node& node) {
  const Value inner = node.inputs[0];
  if (!IsWideFloat(node.outputs[0].dtype) || !inner.node->Is(node.op->name) ||
      !c.SingleUse(inner)) {
    return Value{};
  }
  const Tensor* first = ConstantOf(inner.node->inputs[1]);
  const Tensor* second = ConstantOf(node.inputs[1]);
  if (first == nullptr || second == nullptr ||
      !(node.Is("mul") ? FactorsJoin : TermsJoin)(*first, *second)) {
    return Value{};
  }
  // A row and a column would make a whole matrix.
  const int64_t most = std::max(first->NumElements(), second->NumElements());
  INGOT_ASSIGN_OR_RETURN(
      Value joined,
      c.Add(node.op->name, {inner.node->inputs[1], node.inputs[1]}));
  if (ConstantOf(joined) == nullptr ||
      ConstantOf(joined)->NumElements() > most) {
    return Value{};
  }
  return c.Add(node.op->name, {inner.node->inputs[0], joined});
}

absl::StatusOr<Value> Power(RuleContext& c, const Node& node) {
  const Value x = node.inputs[0];
  const std::optional<double> exponent = SplatOf(node.inputs[1]);
  if (!exponent || !KeepsType(node, x)) return Value{};
  if (*exponent == 2) return c.Add("mul", {x, x});
  if (!x.type().dtype.is_float()) return Value{};
  // x ^ 0.5 of -inf is inf, its root is not a number; models mean the root.
  if (*exponent == 0.5) return c.Add("sqrt", {x});
  if (*exponent == -1) return c.Add("reciprocal", {x});
  return Value{};
}

absl::StatusOr<Value> CastToSame(RuleContext&, const Node& node) {
  if (!KeepsType(node, node.inputs[0])) return Value{};
  return node.inputs[0];
}

// ------------------------------------------------------------------ clip, relu

struct Limits {
  double low = -kInf, high = kInf;
};

Limits LimitsOf(const Node& node) {
  if (node.Is("relu")) return {0, kInf};
  const double* const low = node.attrs.Find<double>("min");
  const double* const high = node.attrs.Find<double>("max");
  return {low == nullptr ? -kInf : *low, high == nullptr ? kInf : *high};
}

absl::StatusOr<Value> MakeClip(RuleContext& c, const Value& x, Limits limits) {
  if (limits.low == 0 && limits.high == kInf) return c.Add("relu", {x});
  Attrs attrs;
  if (limits.low != -kInf) attrs.Set("min", limits.low);
  if (limits.high != kInf) attrs.Set("max", limits.high);
  return c.Add("clip", {x}, attrs);
}

absl::StatusOr<Value> Clip(RuleContext& c, const Node& node) {
  const Value x = node.inputs[0];
  if (!x.type().dtype.is_float()) return Value{};
  const Limits limits = LimitsOf(node);
  if (std::isnan(limits.low) || std::isnan(limits.high)) return Value{};
  if (limits.low == -kInf && limits.high == kInf) return x;
  if (node.Is("clip") && limits.low == 0 && limits.high == kInf) {
    return c.Add("relu", {x});
  }
  // clip(clip(x)): the outer limits hold, the inner ones where they are inside.
  if (!x.node->Is("clip") && !x.node->Is("relu")) return Value{};
  const Limits inner = LimitsOf(*x.node);
  if (!(inner.low <= inner.high) || !(limits.low <= limits.high)) {
    return Value{};
  }
  if (inner.low >= limits.low && inner.high <= limits.high) return x;
  if (!c.SingleUse(x)) return Value{};
  const Limits both = {std::min(std::max(inner.low, limits.low), limits.high),
                       std::max(std::min(inner.high, limits.high), limits.low)};
  return MakeClip(c, x.node->inputs[0], both);
}

// minimum(x, 6), maximum(x, 0) -> clip.
absl::StatusOr<Value> Limit(RuleContext& c, const Node& node) {
  const std::optional<double> limit = SplatOf(node.inputs[1]);
  if (!limit || std::isnan(*limit) || ConstantOf(node.inputs[0]) != nullptr ||
      !node.outputs[0].dtype.is_float() || !KeepsType(node, node.inputs[0])) {
    return Value{};
  }
  Limits limits;
  (node.Is("maximum") ? limits.low : limits.high) = *limit;
  return MakeClip(c, node.inputs[0], limits);
}

constexpr Rule kRules[] = {
    {"constant term to the right", "add", 2, ConstantRight},
    {"constant factor to the right", "mul", 2, ConstantRight},
    {"constant minimum to the right", "minimum", 2, ConstantRight},
    {"constant maximum to the right", "maximum", 2, ConstantRight},
    {"zero added", "add", 2, Neutral},
    {"zero subtracted", "sub", 2, Neutral},
    {"factor of one", "mul", 2, Neutral},
    {"divisor of one", "div", 2, Neutral},
    {"exponent of one", "pow", 2, Neutral},
    {"equal elements as one", "", 2, SplatAsScalar},
    {"subtract a constant", "sub", 2, SubConstant},
    {"divide by a constant", "div", 2, DivConstant},
    {"join added constants", "add", 2, JoinConstants},
    {"join constant factors", "mul", 2, JoinConstants},
    {"simple powers", "pow", 2, Power},
    {"cast to the same type", "cast", 1, CastToSame},
    {"clip", "clip", 1, Clip},
    {"relu", "relu", 1, Clip},
    {"lower limit", "maximum", 2, Limit},
    {"upper limit", "minimum", 2, Limit},
};

}  // namespace

absl::Span<const Rule> ArithmeticRules() { return kRules; }

}  // namespace ingot::relay
