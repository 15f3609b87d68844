// block_layout: convolutions on blocks of channels, as many as a vector
// register holds, so that one load feeds one multiplication of them all.
//
//   conv2d(x, w)  ->  conv2d(layout_transform(x, NCHW, NCHW16c), w packed)
//
// Operators between convolutions stay in blocks where they can: element-wise
// operators, pools, concatenations of whole blocks, and so on. Data goes back
// to its plain layout where something else reads it, once.
#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/blocked.h"
#include "compiler/relay/passes/conv3d_planes.h"
#include "compiler/relay/passes/conv_patches.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/rules.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

Shape WithRows(Shape shape) {
  shape.insert(shape.begin() + 2, tir::MakeInt(1));
  return shape;
}

// [n, c, w] as [n, c, 1, w], for what has a two-dimensional twin.
absl::StatusOr<Value> AsTwoDimensional(RuleContext& c, const Node& node) {
  Attrs attrs = node.attrs;
  attrs.Erase("data_layout");
  attrs.Erase("kernel_layout");
  attrs.Erase("layout");
  for (const char* name : {"kernel", "strides", "dilations"}) {
    const Ints* const stored = attrs.Find<Ints>(name);
    if (stored == nullptr || stored->size() != 1) continue;
    attrs.Set(name, Ints{1, (*stored)[0]});
  }
  const Ints* const pads = attrs.Find<Ints>("pads");
  if (pads != nullptr && pads->size() == 2) {
    attrs.Set("pads", Ints{0, (*pads)[0], 0, (*pads)[1]});
  }
  std::vector<Value> inputs;
  for (const Value& input : node.inputs) {
    INGOT_ASSIGN_OR_RETURN(
        Value as_nchw,
        c.Add("reshape", {input}, {{"shape", WithRows(input.type().shape)}}));
    inputs.push_back(as_nchw);
  }
  std::string op = node.op->name;
  op[op.size() - 2] = '2';
  INGOT_ASSIGN_OR_RETURN(Value result, c.Add(op, inputs, attrs));
  return c.Add("reshape", {result}, {{"shape", node.outputs[0].shape}});
}

// Whether it comes from a convolution along one dimension, or one of images of
// one row, with nothing but element-wise operators and reshapes between.
bool IsSignalOfConv(const Value& value) {
  const Node* node = value.node;
  const auto passes = [](const Node& n) {
    return n.op->layout_rule == LayoutRule::kFollows ||
           n.op->layout_rule == LayoutRule::kReshapes;
  };
  while (node->kind == NodeKind::kOp && passes(*node)) {
    const auto data = std::find_if(
        node->inputs.begin(), node->inputs.end(), [](const Value& input) {
          return input.node != nullptr && ConstantOf(input) == nullptr;
        });
    if (data == node->inputs.end()) return false;
    node = data->node;
  }
  if (node->kind != NodeKind::kOp || !IsConv(*node)) return false;
  const Shape& shape = node->outputs[0].shape;
  return shape.size() == 3 ||
         (shape.size() == 4 && tir::IsConstInt(shape[2], 1));
}

// A mean or maximum over a signal that a convolution made, so that it need not
// leave its blocks of channels.
absl::StatusOr<Value> OverSignal(RuleContext& c, const Node& node) {
  const Value x = node.inputs[0];
  if (x.type().shape.size() != 3 || !x.type().dtype.is_float() ||
      !node.attrs.Has("axes") || !IsSignalOfConv(x)) {
    return Value();
  }
  const Ints& axes = node.attrs.Get<Ints>("axes");
  if (axes != Ints{2} && axes != Ints{-1}) return Value();
  INGOT_ASSIGN_OR_RETURN(
      const Value pooled,
      c.Add(node.Is("reduce_max") ? "global_max_pool1d" : "global_avg_pool1d",
            {x}));
  return c.Add("reshape", {pooled}, {{"shape", node.outputs[0].shape}});
}

// The sums of a convolution of 16-bit floats are made in 32 bits, and rounded.
// Converting each number where it is read takes longer than multiplying it: of
// f32, weights are converted by the compiler and data once, often by what makes
// it.
absl::StatusOr<Value> WithSumsOfF32(RuleContext& c, const Node& node) {
  const DataType type = node.outputs[0].dtype;
  if (!type.is_float() || type.bits != 16 || node.attrs.Has("target") ||
      node.attrs.Has("out_dtype")) {
    return Value();
  }
  std::vector<Value> inputs;
  for (const Value& input : node.inputs) {
    INGOT_ASSIGN_OR_RETURN(
        Value wide, c.Add("cast", {input}, {{"dtype", DataType::Float(32)}}));
    inputs.push_back(wide);
  }
  INGOT_ASSIGN_OR_RETURN(Value result,
                         c.Add(node.op->name, std::move(inputs), node.attrs));
  return c.Add("cast", {result}, {{"dtype", type}});
}

constexpr Rule kWideSumRules[] = {
    {"conv1d with sums of f32", "conv1d", 2, WithSumsOfF32},
    {"conv2d with sums of f32", "conv2d", 2, WithSumsOfF32},
    {"conv3d with sums of f32", "conv3d", 2, WithSumsOfF32},
};

constexpr Rule kPlaneRules[] = {
    {"conv1d as conv2d", "conv1d", 2, AsTwoDimensional},
    {"conv2d of patches as product", "conv2d", 2, AsProductOfPatches},
    {"conv3d as conv2d", "conv3d", 2, AsPlanes},
    {"element-wise after conv3d", "", 1, FollowInFlatPlanes},
    {"max_pool1d as 2d", "max_pool1d", 1, AsTwoDimensional},
    {"avg_pool1d as 2d", "avg_pool1d", 1, AsTwoDimensional},
    {"lp_pool1d as 2d", "lp_pool1d", 1, AsTwoDimensional},
    {"maximum over a signal as pool", "reduce_max", 1, OverSignal},
    {"mean over a signal as pool", "reduce_mean", 1, OverSignal},
    {"global_max_pool1d as 2d", "global_max_pool1d", 1, AsTwoDimensional},
    {"global_avg_pool1d as 2d", "global_avg_pool1d", 1, AsTwoDimensional},
    {"global_lp_pool1d as 2d", "global_lp_pool1d", 1, AsTwoDimensional},
};

absl::StatusOr<bool> BlockFunction(Function* function,
                                   const PassContext& context) {
  BlockedValues values(function, context);
  std::vector<Node*> nodes;
  for (const auto& node : function->nodes()) nodes.push_back(node.get());
  bool changed = false;
  for (Node* node : nodes) {
    INGOT_ASSIGN_OR_RETURN(std::optional<Blocked> blocked,
                           values.Convert(node));
    if (blocked) {
      values.Define(Value{node}, *blocked);
      changed = true;
      continue;
    }
    for (Value& input : node->inputs) {
      if (input.node == nullptr) continue;
      INGOT_ASSIGN_OR_RETURN(input, values.Plain(input));
    }
  }
  if (!changed) return false;
  // Results keep their names, before what they are made from.
  std::vector<std::pair<Node*, std::string>> preferred_names;
  for (Value& output : function->outputs) {
    const std::string name = output.node->name;
    INGOT_ASSIGN_OR_RETURN(output, values.Plain(output));
    preferred_names.emplace_back(output.node, name);
  }
  preferred_names.insert(preferred_names.end(),
                         values.preferred_names().begin(),
                         values.preferred_names().end());
  function->RemoveDead();
  std::set<std::string> names;
  std::set<const Node*> alive;
  for (const auto& node : function->nodes()) {
    names.insert(node->name);
    alive.insert(node.get());
  }
  for (const auto& [node, name] : preferred_names) {
    if (alive.count(node) == 0 || !names.insert(name).second) continue;
    names.erase(node->name);
    node->name = name;
  }
  INGOT_RETURN_IF_ERROR(function->Sort());
  return true;
}

bool HasConvolution(const Function& function) {
  for (const auto& node : function.nodes()) {
    if (IsConv(*node)) return true;
  }
  return false;
}

}  // namespace

absl::Span<const Rule> PlaneRules() { return kPlaneRules; }
absl::Span<const Rule> WideSumRules() { return kWideSumRules; }

absl::StatusOr<bool> BlockLayout(Module* module, PassContext* context) {
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function) || !HasConvolution(*function)) continue;
    bool widened = false, added = false;
    if (context->layouts.wide_sums) {
      INGOT_ASSIGN_OR_RETURN(widened,
                             ApplyRules(function.get(), kWideSumRules));
    }
    if (context->layouts.channel_block != nullptr) {
      INGOT_ASSIGN_OR_RETURN(added, ApplyRules(function.get(), kPlaneRules));
    }
    INGOT_ASSIGN_OR_RETURN(bool blocked,
                           BlockFunction(function.get(), *context));
    changed = changed || widened || added || blocked;
  }
  return changed;
}

}  // namespace ingot::relay
