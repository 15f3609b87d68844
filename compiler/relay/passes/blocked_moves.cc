// Operators that move elements, in blocks of channels: parts and wholes,
// padding, other sizes and other orders.
#include <utility>

#include "base/status_macros.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/passes/blocked.h"
#include "compiler/tir/arith/interval.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// The dimension of blocked data with a block's channels.
constexpr int64_t kBlockAxis = 4;

// The dimension of blocked data that holds a dimension of plain data.
int64_t BlockedAxis(int64_t axis, bool has_unit_height) {
  return has_unit_height && axis >= 2 ? axis + 1 : axis;
}

// The shape of NCHW or NCW data with all channels in one block.
Shape InOneBlock(Shape shape) {
  shape = WithUnitHeight(std::move(shape));
  return {shape[0], tir::MakeInt(1), shape[2], shape[3], shape[1]};
}

}  // namespace

BlockedValues::MaybeBlocked BlockedValues::Concat(const Node& node) {
  const int64_t rank = static_cast<int64_t>(node.outputs[0].shape.size());
  int64_t axis = node.attrs.Get<int64_t>("axis");
  if (axis < 0) axis += rank;
  Blocked result;
  result.channels = ChannelsOf(node.outputs[0]);
  result.has_unit_height = rank == 3;
  int64_t blocked_channels = 0, plain_channels = 0;
  for (const Value& input : node.inputs) {
    const int64_t channels = ChannelsOf(input.type());
    const Blocked* blocked = Find(input);
    if (blocked != nullptr) result.block = blocked->block;
    (blocked != nullptr ? blocked_channels : plain_channels) += channels;
  }
  const bool joins_blocks = axis == 1 && layouts_->one_block;
  if (result.channels == 0 || blocked_channels < plain_channels ||
      (joins_blocks && result.channels > kMaxBlock)) {
    return std::nullopt;
  }
  if (joins_blocks) result.block = result.channels;
  std::vector<Value> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int64_t channels = ChannelsOf(node.inputs[i].type());
    // Only the last part may end in the middle of a block.
    if (channels == 0 ||
        (axis == 1 && !joins_blocks && i + 1 < node.inputs.size() &&
         channels % result.block != 0)) {
      return std::nullopt;
    }
  }
  for (const Value& input : node.inputs) {
    const int64_t block =
        joins_blocks ? ChannelsOf(input.type()) : result.block;
    INGOT_ASSIGN_OR_RETURN(Blocked part, InBlocks(input, block));
    inputs.push_back(part.value);
  }
  Attrs attrs = node.attrs;
  attrs.Set("axis", joins_blocks ? kBlockAxis
                                 : BlockedAxis(axis, result.has_unit_height));
  INGOT_ASSIGN_OR_RETURN(result.value, Add(node, std::move(inputs), attrs));
  return result;
}

BlockedValues::MaybeBlocked BlockedValues::Slice(const Node& node) {
  Blocked result = *Find(node.inputs[0]);
  Ints axes = node.attrs.Get<Ints>("axes");
  const Ints steps = node.attrs.GetEach("steps", axes.size());
  Shape starts = node.attrs.Get<Shape>("starts");
  Shape ends = node.attrs.Get<Shape>("ends");
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] != 1) {
      axes[k] = BlockedAxis(axes[k], result.has_unit_height);
      continue;
    }
    int64_t start, end;
    if (steps[k] != 1 || !tir::AsConstInt(starts[k], &start) ||
        !tir::AsConstInt(ends[k], &end) || end <= start) {
      return std::nullopt;
    }
    if (layouts_->one_block) {
      result.block = end - start;
      axes[k] = kBlockAxis;
    } else if (start % result.block != 0) {
      return std::nullopt;
    } else {
      starts[k] = tir::MakeInt(start / result.block);
      ends[k] = tir::MakeInt(tir::CeilDivInt(end, result.block));
    }
    result.channels = end - start;
  }
  Attrs attrs = node.attrs;
  attrs.Set("axes", axes);
  attrs.Set("starts", starts);
  attrs.Set("ends", ends);
  std::vector<Value> inputs = {result.value};
  // The other operands bind the symbols of the limits.
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(Value plain, Plain(node.inputs[i]));
    inputs.push_back(plain);
  }
  INGOT_ASSIGN_OR_RETURN(result.value, Add(node, std::move(inputs), attrs));
  return result;
}

BlockedValues::MaybeBlocked BlockedValues::Pad(const Node& node) {
  Blocked result = *Find(node.inputs[0]);
  const Ints& pads = node.attrs.Get<Ints>("pads");
  const size_t rank = pads.size() / 2;
  if (pads[1] != 0 || pads[rank + 1] != 0) return std::nullopt;
  Ints blocked(10, 0);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t at =
        BlockedAxis(static_cast<int64_t>(d), result.has_unit_height);
    blocked[at] = pads[d];
    blocked[5 + at] = pads[rank + d];
  }
  Attrs attrs = node.attrs;
  attrs.Set("pads", blocked);
  INGOT_ASSIGN_OR_RETURN(result.value, Add(node, {result.value}, attrs));
  return result;
}

BlockedValues::MaybeBlocked BlockedValues::Resize(const Node& node) {
  Blocked result = *Find(node.inputs[0]);
  Shape sizes = node.attrs.Get<Shape>("sizes");
  if (result.has_unit_height || sizes.size() != 4 || node.inputs.size() != 1 ||
      node.attrs.Has("roi") || !tir::IsConstInt(sizes[1], result.channels)) {
    return std::nullopt;
  }
  sizes[1] = result.value.type().shape[1];
  sizes.push_back(tir::MakeInt(result.block));
  Attrs attrs = node.attrs;
  attrs.Set("sizes", sizes);
  if (node.attrs.Has("scales")) {
    std::vector<double> scales = node.attrs.Get<std::vector<double>>("scales");
    if (!scales.empty()) {
      if (scales[1] != 1) return std::nullopt;
      scales.push_back(1);
    }
    attrs.Set("scales", scales);
  }
  INGOT_ASSIGN_OR_RETURN(result.value, Add(node, {result.value}, attrs));
  return result;
}

// [n, c, 1, w] to [n, c, w] and back is nothing to blocked data, and [n, c, h,
// w] to [n, c, h * w] is a view of data with all channels in one block.
BlockedValues::MaybeBlocked BlockedValues::Reshape(const Node& node) {
  const Blocked x = *Find(node.inputs[0]);
  const Shape& from = node.inputs[0].type().shape;
  const Shape& to = node.outputs[0].shape;
  if (from.size() == to.size() || to.size() < 3 || to.size() > 4) {
    return std::nullopt;
  }
  Blocked result = x;
  result.has_unit_height = to.size() == 3;
  if (SameShape(WithUnitHeight(from), WithUnitHeight(to))) return result;
  if (!layouts_->one_block || node.inputs.size() != 1 ||
      !SameShape({from[0], from[1]}, {to[0], to[1]})) {
    return std::nullopt;
  }
  INGOT_ASSIGN_OR_RETURN(result.value,
                         Reshaped(x.value, InOneBlock(to), node.name));
  result.value.node->sources.Add(node.sources);
  return result;
}

// Channels last, [n, h, w, c], are data with all channels in one block.
BlockedValues::MaybeBlocked BlockedValues::Turn(Node* node) {
  const Value x = node->inputs[0];
  const Shape& shape = node->outputs[0].shape;
  const Ints& axes = node->attrs.Get<Ints>("axes");
  if (!layouts_->one_block) return std::nullopt;
  if (const Blocked* const blocked = Find(x)) {
    const bool puts_last =
        axes == (blocked->has_unit_height ? Ints{0, 2, 1} : Ints{0, 2, 3, 1});
    if (!puts_last) return std::nullopt;
    INGOT_ASSIGN_OR_RETURN(const Value view,
                           Reshaped(blocked->value, shape, node->name));
    view.node->sources.Add(node->sources);
    preferred_names_.emplace_back(view.node, node->name);
    plain_[Value{node}] = view;
    return std::nullopt;
  }
  const int64_t channels = ChannelsOf(node->outputs[0]);
  if (axes != Ints{0, 3, 1, 2} || channels == 0 || channels > kMaxBlock) {
    return std::nullopt;
  }
  INGOT_ASSIGN_OR_RETURN(const Value last, Plain(x));
  INGOT_ASSIGN_OR_RETURN(const Value view,
                         Reshaped(last, InOneBlock(shape), node->name));
  view.node->sources.Add(node->sources);
  return Blocked{view, channels, channels, false};
}

// Blocks of channels move as they are.
BlockedValues::MaybeBlocked BlockedValues::MoveChannels(const Node& node) {
  Blocked result = *Find(node.inputs[0]);
  if (node.attrs.Get<std::string>("mode") != "DCR") return std::nullopt;
  Ints blocks = node.attrs.Get<Ints>("blocks");
  result.channels = ChannelsOf(node.outputs[0]);
  if (result.channels == 0 || result.channels % result.block != 0) {
    return std::nullopt;
  }
  if (result.has_unit_height) blocks.insert(blocks.begin(), 1);
  blocks.push_back(1);
  Attrs attrs = node.attrs;
  attrs.Set("blocks", blocks);
  INGOT_ASSIGN_OR_RETURN(result.value, Add(node, {result.value}, attrs));
  return result;
}

}  // namespace ingot::relay
