// fold_batch_norm: factors and terms per output channel of a convolution or a
// matrix product go into its weights and into one bias.
//
//   batch_norm(x)            -> x * s + t                (constants by channel)
//   (y + b) * s              -> y * s + (b * s)          (y a convolution)
//   conv(x, w) * s           -> conv(x, w * s)
//   (y + b) + t              -> y + (b + t)
#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/rules.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// The result's dimension that runs over the output channels of a product with
// constant weights in a plain layout; -1 for everything else.
int ChannelAxis(const Value& value) {
  const Node& node = *value.node;
  if (node.kind != NodeKind::kOp || node.inputs.size() < 2 ||
      ConstantOf(node.inputs[1]) == nullptr || !value.type().dtype.is_float() ||
      node.attrs.Has("out_dtype")) {
    return -1;
  }
  if (IsConv(node)) {
    return IsPlainLayout(node.attrs.Get<std::string>("kernel_layout")) ? 1 : -1;
  }
  if (IsConvTranspose(node)) return 1;
  if (node.op->Has(kTimesTranspose) || node.op->Has(kTimesMatrix)) {
    return static_cast<int>(value.type().shape.size()) - 1;
  }
  return -1;
}

// A constant that has one value for each index of dimension `axis` of a tensor
// with the shape of `like` (or one for all), and does not make it larger.
bool IsPerChannel(const Value& value, const Value& like, int axis) {
  const Tensor* constant = ConstantOf(value);
  const Shape& shape = like.type().shape;
  if (constant == nullptr || constant->dtype() != like.type().dtype ||
      constant->shape().size() > shape.size()) {
    return false;
  }
  const size_t missing = shape.size() - constant->shape().size();
  for (size_t d = 0; d < constant->shape().size(); ++d) {
    const int64_t extent = constant->shape()[d];
    if (extent == 1) continue;
    if (static_cast<int>(d + missing) != axis ||
        !tir::IsConstInt(shape[axis], extent)) {
      return false;
    }
  }
  return true;
}

// The constant with the channels as its first of `rank` dimensions and ones
// after; a constant for all channels has ones only.
absl::StatusOr<Value> ChannelsFirst(RuleContext& c, const Value& value,
                                    int rank) {
  Ints shape(std::max(rank, 1), 1);
  shape[0] = ConstantOf(value)->NumElements();
  return c.Add("reshape", {value}, {{"shape", MakeShape(shape)}});
}

absl::StatusOr<Value> BatchNorm(RuleContext& c, const Node& node) {
  const TensorType& type = node.outputs[0];
  for (int i = 1; i < 5; ++i) {
    const Tensor* constant = ConstantOf(node.inputs[i]);
    // The norm of 16-bit floats is computed in 32 bits, which this would lose.
    if (constant == nullptr || constant->dtype() != type.dtype ||
        type.dtype.bits < 32) {
      return Value{};
    }
  }
  INGOT_ASSIGN_OR_RETURN(
      Value epsilon,
      c.Splat(type.dtype, {1}, node.attrs.Get<double>("epsilon")));
  INGOT_ASSIGN_OR_RETURN(Value var, c.Add("add", {node.inputs[4], epsilon}));
  INGOT_ASSIGN_OR_RETURN(Value deviation, c.Add("sqrt", {var}));
  INGOT_ASSIGN_OR_RETURN(Value scale,
                         c.Add("div", {node.inputs[1], deviation}));
  INGOT_ASSIGN_OR_RETURN(Value mean, c.Add("mul", {node.inputs[3], scale}));
  INGOT_ASSIGN_OR_RETURN(Value shift, c.Add("sub", {node.inputs[2], mean}));
  const int after = std::max(static_cast<int>(type.shape.size()) - 1, 1);
  INGOT_ASSIGN_OR_RETURN(scale, ChannelsFirst(c, scale, after));
  INGOT_ASSIGN_OR_RETURN(shift, ChannelsFirst(c, shift, after));
  INGOT_ASSIGN_OR_RETURN(Value scaled, c.Add("mul", {node.inputs[0], scale}));
  return c.Add("add", {scaled, shift});
}

// Where the elements of each output channel lie in weights: those of one in
// runs of `inner`, those of all, or of all of a group, one after the other.
struct ChannelRuns {
  int64_t inner, channels, groups;
};

ChannelRuns RunsOf(const Node& product, const Ints& shape) {
  if (product.op->Has(kTimesMatrix)) return {1, shape.back(), 1};  // [in, out]
  const size_t channels = IsConvTranspose(product) ? 1 : 0;
  int64_t inner = 1;
  for (size_t d = channels + 1; d < shape.size(); ++d) inner *= shape[d];
  return {inner, shape[channels],
          channels == 0 ? 1 : product.attrs.Get<int64_t>("groups")};
}

// The largest size of an element of each channel, by its number.
std::vector<double> LargestByChannel(const Tensor& weights,
                                     const ChannelRuns& runs) {
  std::vector<double> largest(runs.channels * runs.groups);
  const int64_t count = weights.NumElements();
  const float* floats =
      weights.dtype() == DataType::Float(32) ? weights.data<float>() : nullptr;
  int64_t i = 0;
  for (int64_t group = 0; group < runs.groups; ++group) {
    while (i < count / runs.groups * (group + 1)) {
      for (int64_t k = 0; k < runs.channels; ++k) {
        double& most = largest[group * runs.channels + k];
        for (const int64_t end = i + runs.inner; i < end; ++i) {
          const double v = floats == nullptr ? NumberAt(weights, i) : floats[i];
          most = std::max(most, std::abs(v));
        }
      }
    }
  }
  return largest;
}

// Whether weights hold what they are times their channel's factor: none is
// infinite, and of no channel are all so small that they lose digits.
bool WeightsHold(const Node& product, const Tensor& factor) {
  const Tensor& weights = *ConstantOf(product.inputs[1]);
  const FloatSizes sizes = SizesOf(weights.dtype());
  const Ints shape(weights.shape().begin(), weights.shape().end());
  if (!AllFinite(factor)) return false;
  const std::vector<double> largest =
      LargestByChannel(weights, RunsOf(product, shape));
  const auto count = static_cast<size_t>(factor.NumElements());
  for (size_t k = 0; k < largest.size(); ++k) {
    const double f = NumberAt(factor, count == 1 ? 0 : static_cast<int64_t>(k));
    const double scaled = largest[k] * std::abs(f);
    if (scaled > sizes.most || (scaled != 0 && scaled < sizes.least)) {
      return false;
    }
  }
  return true;
}

// weights * factor, where the factor is one value an output channel.
absl::StatusOr<Value> ScaleWeights(RuleContext& c, const Node& product,
                                   const Value& factor) {
  const Value weights = product.inputs[1];
  const auto shape = *ConstShape(weights.type().shape);
  const int rank = static_cast<int>(shape.size());
  if (ConstantOf(factor)->NumElements() == 1) {
    INGOT_ASSIGN_OR_RETURN(Value scalar, ChannelsFirst(c, factor, 1));
    return c.Add("mul", {weights, scalar});
  }
  if (product.op->Has(kTimesMatrix)) {
    INGOT_ASSIGN_OR_RETURN(Value row, ChannelsFirst(c, factor, 1));
    return c.Add("mul", {weights, row});
  }
  if (!IsConvTranspose(product)) {  // [out, …]
    INGOT_ASSIGN_OR_RETURN(Value column, ChannelsFirst(c, factor, rank));
    return c.Add("mul", {weights, column});
  }
  // [groups * in, out, …], the output channels counted within the group.
  const int64_t groups = product.attrs.Get<int64_t>("groups");
  Ints grouped = shape;
  grouped[0] /= groups;
  grouped.insert(grouped.begin(), groups);
  Ints by_group(grouped.size(), 1);
  by_group[0] = groups;
  by_group[2] = shape[1];
  INGOT_ASSIGN_OR_RETURN(
      Value w, c.Add("reshape", {weights}, {{"shape", MakeShape(grouped)}}));
  INGOT_ASSIGN_OR_RETURN(
      Value f, c.Add("reshape", {factor}, {{"shape", MakeShape(by_group)}}));
  INGOT_ASSIGN_OR_RETURN(w, c.Add("mul", {w, f}));
  return c.Add("reshape", {w}, {{"shape", MakeShape(shape)}});
}

absl::StatusOr<Value> ScaleProduct(RuleContext& c, const Node& node) {
  const Value product = node.inputs[0], factor = node.inputs[1];
  const int axis = ChannelAxis(product);
  if (axis < 0 || !c.SingleUse(product) ||
      !IsPerChannel(factor, product, axis) ||
      !WeightsHold(*product.node, *ConstantOf(factor))) {
    return Value{};
  }
  INGOT_ASSIGN_OR_RETURN(Value weights, ScaleWeights(c, *product.node, factor));
  return c.AddLike(*product.node, {product.node->inputs[0], weights},
                   product.node->attrs);
}

absl::StatusOr<Value> ScaleBias(RuleContext& c, const Node& node) {
  const Value sum = node.inputs[0], factor = node.inputs[1];
  if (!sum.node->Is("add") || !c.SingleUse(sum)) return Value{};
  const Value product = sum.node->inputs[0], bias = sum.node->inputs[1];
  const int axis = ChannelAxis(product);
  if (axis < 0 || !c.SingleUse(product) ||
      !IsPerChannel(factor, product, axis) ||
      !IsPerChannel(bias, product, axis) ||
      !(LargestSize(*ConstantOf(bias)) * LargestSize(*ConstantOf(factor)) <=
        SizesOf(product.type().dtype).most)) {
    return Value{};
  }
  INGOT_ASSIGN_OR_RETURN(Value scaled, c.Add("mul", {product, factor}));
  INGOT_ASSIGN_OR_RETURN(Value term, c.Add("mul", {bias, factor}));
  return c.Add("add", {scaled, term});
}

absl::StatusOr<Value> JoinBiases(RuleContext& c, const Node& node) {
  const Value sum = node.inputs[0], term = node.inputs[1];
  if (!sum.node->Is("add") || !c.SingleUse(sum)) return Value{};
  const Value product = sum.node->inputs[0], bias = sum.node->inputs[1];
  const int axis = ChannelAxis(product);
  if (axis < 0 || !IsPerChannel(term, product, axis) ||
      !IsPerChannel(bias, product, axis) ||
      !TermsJoin(*ConstantOf(bias), *ConstantOf(term))) {
    return Value{};
  }
  INGOT_ASSIGN_OR_RETURN(Value joined, c.Add("add", {bias, term}));
  return c.Add("add", {product, joined});
}

constexpr Rule kRules[] = {
    {"batch norm as factor and term", "batch_norm", 5, BatchNorm},
    {"factor into weights", "mul", 2, ScaleProduct},
    {"factor past a bias", "mul", 2, ScaleBias},
    {"one bias of two", "add", 2, JoinBiases},
};

}  // namespace

absl::Span<const Rule> BatchNormRules() { return kRules; }

absl::StatusOr<bool> FoldBatchNorm(Module* module, PassContext*) {
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    INGOT_ASSIGN_OR_RETURN(bool now, ApplyRules(function.get(), kRules));
    changed |= now;
  }
  return changed;
}

}  // namespace ingot::relay
