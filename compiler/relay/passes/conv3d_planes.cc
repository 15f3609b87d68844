#include "compiler/relay/passes/conv3d_planes.h"

#include <algorithm>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// A convolution, decoded: its attributes by dimension, and those that do not
// speak of dimensions.
struct Problem {
  explicit Problem(const Node& node)
      : strides(node.attrs.GetEach("strides", 3)),
        dilations(node.attrs.GetEach("dilations", 3)),
        pads(node.attrs.GetEach("pads", 6)),
        others(node.attrs),
        x(node.inputs[0].type().shape),
        w(node.inputs[1].type().shape),
        y(node.outputs[0].shape) {
    for (const char* name :
         {"strides", "dilations", "pads", "data_layout", "kernel_layout"}) {
      others.Erase(name);
    }
  }

  // The attributes of a convolution in two of the dimensions.
  Attrs Of(size_t a, size_t b) const {
    Attrs attrs = others;
    attrs.Set("strides", Ints{strides[a], strides[b]});
    attrs.Set("dilations", Ints{dilations[a], dilations[b]});
    attrs.Set("pads", Ints{pads[a], pads[b], pads[3 + a], pads[3 + b]});
    return attrs;
  }

  Ints strides, dilations, pads;
  Attrs others;
  const Shape x, w, y;
};

// Nothing but the depth matters to each point of a plane.
bool IsOfPoints(const Problem& p) {
  if (!tir::IsConstInt(p.w[3], 1) || !tir::IsConstInt(p.w[4], 1)) return false;
  for (const size_t d : {1, 2}) {
    if (p.strides[d] != 1 || p.pads[d] != 0 || p.pads[3 + d] != 0) return false;
  }
  return true;
}

// The shape of [n, c, d, h, w], or of what broadcasts to it, with its planes as
// rows: [n, c, d, h * w].
Shape WithFlatPlanes(const Shape& s) {
  Shape flat(s.begin(), s.end() - 1);
  flat.back() = SimplifyDim(flat.back() * s.back());
  return flat;
}

// Whether the value is a view, as volumes, of data with flat planes.
bool HadFlatPlanes(const Value& value) {
  return value.node->Is("reshape") && value.node->inputs.size() == 1 &&
         value.type().shape.size() == 5 &&
         SameShape(value.node->inputs[0].type().shape,
                   WithFlatPlanes(value.type().shape));
}

absl::StatusOr<Value> FlattenPlanes(RuleContext& c, const Value& x) {
  if (HadFlatPlanes(x)) return x.node->inputs[0];
  return c.Add("reshape", {x}, {{"shape", WithFlatPlanes(x.type().shape)}});
}

absl::StatusOr<Value> AlongDepth(RuleContext& c, const Node& node,
                                 const Problem& p) {
  INGOT_ASSIGN_OR_RETURN(const Value x, FlattenPlanes(c, node.inputs[0]));
  INGOT_ASSIGN_OR_RETURN(const Value w, FlattenPlanes(c, node.inputs[1]));
  INGOT_ASSIGN_OR_RETURN(const Value y, c.Add("conv2d", {x, w}, p.Of(0, 1)));
  return c.Add("reshape", {y}, {{"shape", p.y}});
}

// For each plane of the result the planes of the data that the kernel covers
// there, as channels: [n, d', kernel's d * c, h, w].
absl::StatusOr<Value> CoveredPlanes(RuleContext& c, const Node& node,
                                    const Problem& p, int64_t taps) {
  Value x = node.inputs[0];
  if (p.pads[0] != 0 || p.pads[3] != 0) {
    Ints pads(10);
    pads[2] = p.pads[0];
    pads[7] = p.pads[3];
    const double value =
        static_cast<double>(node.attrs.Get<int64_t>("pad_value"));
    INGOT_ASSIGN_OR_RETURN(
        x, c.Add("pad", {x}, {{"pads", pads}, {"value", value}}));
  }
  INGOT_ASSIGN_OR_RETURN(
      x, c.Add("transpose", {x}, {{"axes", Ints{0, 2, 1, 3, 4}}}));
  if (taps == 1 && p.strides[0] == 1) return x;
  std::vector<Value> planes;
  for (int64_t k = 0; k < taps; ++k) {
    const int64_t first = k * p.dilations[0];
    const Dim end = SimplifyDim((p.y[2] - 1) * p.strides[0] + (first + 1));
    INGOT_ASSIGN_OR_RETURN(planes.emplace_back(),
                           c.Add("slice", {x},
                                 {{"starts", MakeShape({first})},
                                  {"ends", Shape{end}},
                                  {"axes", Ints{1}},
                                  {"steps", Ints{p.strides[0]}}}));
  }
  if (taps == 1) return planes[0];
  return c.Add("concat", planes, {{"axis", int64_t{2}}});
}

// Whether the planes that a tap of the kernel covers are a slice of the data,
// of as many planes as the result has, however many the data has.
bool CoversSlices(const Problem& p, int64_t taps) {
  int64_t depth;
  if (tir::AsConstInt(p.y[2], &depth)) return depth > 0;
  return p.strides[0] == 1 &&
         p.pads[0] + p.pads[3] >= (taps - 1) * p.dilations[0];
}

}  // namespace

absl::StatusOr<Value> AsPlanes(RuleContext& c, const Node& node) {
  const Problem p(node);
  if (IsOfPoints(p)) return AlongDepth(c, node, p);
  int64_t taps;
  if (!tir::AsConstInt(p.w[2], &taps) || !CoversSlices(p, taps) ||
      (taps > 1 && node.attrs.Get<int64_t>("groups") != 1)) {
    return Value();
  }
  INGOT_ASSIGN_OR_RETURN(Value x, CoveredPlanes(c, node, p, taps));
  const Dim planes = SimplifyDim(p.x[0] * p.y[2]);
  const Dim channels = SimplifyDim(p.x[1] * tir::MakeInt(taps));
  INGOT_ASSIGN_OR_RETURN(
      x, c.Add("reshape", {x},
               {{"shape", Shape{planes, channels, p.x[3], p.x[4]}}}));
  INGOT_ASSIGN_OR_RETURN(Value w, c.Add("transpose", {node.inputs[1]},
                                        {{"axes", Ints{0, 2, 1, 3, 4}}}));
  INGOT_ASSIGN_OR_RETURN(
      w, c.Add("reshape", {w},
               {{"shape", Shape{p.w[0], SimplifyDim(p.w[1] * p.w[2]), p.w[3],
                                p.w[4]}}}));
  INGOT_ASSIGN_OR_RETURN(Value y, c.Add("conv2d", {x, w}, p.Of(1, 2)));
  INGOT_ASSIGN_OR_RETURN(
      y, c.Add("reshape", {y},
               {{"shape", Shape{p.y[0], p.y[2], p.y[1], p.y[3], p.y[4]}}}));
  return c.Add("transpose", {y}, {{"axes", Ints{0, 2, 1, 3, 4}}});
}

absl::StatusOr<Value> FollowInFlatPlanes(RuleContext& c, const Node& node) {
  const Shape& shape = node.outputs[0].shape;
  if (node.op->layout_rule != LayoutRule::kFollows || shape.size() != 5) {
    return Value();
  }
  const auto stays = [](const Value& input) {
    return input.node == nullptr || IsOneElement(input);
  };
  bool follows = false;
  for (const Value& input : node.inputs) {
    if (stays(input)) continue;
    const Shape& s = input.type().shape;
    if (s.size() < 2) return Value();
    const Shape plane(s.end() - 2, s.end());
    if (!SameShape(plane, {shape[3], shape[4]}) &&
        !SameShape(plane, MakeShape({1, 1}))) {
      return Value();
    }
    if (!HadFlatPlanes(input) || !c.SingleUse(input)) continue;
    const Node& data = *input.node->inputs[0].node;
    follows =
        follows || data.Is("conv2d") ||
        (data.op != nullptr && data.op->layout_rule == LayoutRule::kFollows);
  }
  if (!follows) return Value();
  std::vector<Value> inputs = node.inputs;
  for (Value& input : inputs) {
    if (stays(input)) continue;
    INGOT_ASSIGN_OR_RETURN(input, FlattenPlanes(c, input));
  }
  INGOT_ASSIGN_OR_RETURN(const Value y,
                         c.Add(node.op->name, inputs, node.attrs));
  return c.Add("reshape", {y}, {{"shape", shape}});
}

}  // namespace ingot::relay
