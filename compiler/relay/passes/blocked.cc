#include "compiler/relay/passes/blocked.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/tir/arith/interval.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// As NCHW: a dimension of 1 is put in before the last of NCW.
Shape WithUnitHeight(Shape shape) {
  if (shape.size() == 3) shape.insert(shape.begin() + 2, tir::MakeInt(1));
  return shape;
}

// The dimension of blocked data with a block's channels.
constexpr int64_t kBlockAxis = 4;

// The dimension of blocked data that holds a dimension of plain data.
int64_t BlockedAxis(int64_t axis, bool has_unit_height) {
  return has_unit_height && axis >= 2 ? axis + 1 : axis;
}

bool IsPlane(const Shape& nchw) {
  return tir::IsConstInt(nchw[2], 1) && tir::IsConstInt(nchw[3], 1);
}

// What the target wants; null for a device that wants nothing.
const LayoutPreferences* FindLayouts(const PassContext& context,
                                     const std::string& target) {
  if (target.empty()) return &context.layouts;
  const auto found = context.device_layouts.find(target);
  return found == context.device_layouts.end() ? nullptr : &found->second;
}

// Whether an attribute or a constant operand of the call is an infinity or NaN.
bool HoldsNonFinite(const Node& node) {
  for (const auto& [name, value] : node.attrs.values()) {
    const auto* number = std::get_if<double>(&value);
    if (number != nullptr && !std::isfinite(*number)) return true;
  }
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [](const Value& input) {
                       const Tensor* constant = ConstantOf(input);
                       return constant != nullptr && !AllFinite(*constant);
                     });
}

// Whether it may make one of the finite values that fill up a block, which a
// product with zero weights does not take out again.
bool MayLeaveFinite(const Node& node) {
  return node.outputs[0].dtype.is_float() && !node.op->Has(kKeepsFinite);
}

}  // namespace

std::string DataLayout(int64_t block) {
  return absl::StrCat("NCHW", block, "c");
}

int64_t ChannelsOf(const TensorType& type) {
  int64_t channels = 0;
  if (type.shape.size() != 3 && type.shape.size() != 4) return 0;
  return tir::AsConstInt(type.shape[1], &channels) ? channels : 0;
}

const Blocked* BlockedValues::Find(const Value& value) const {
  auto it = blocked_.find(value);
  return it == blocked_.end() || it->second.target != target_
             ? nullptr
             : &it->second.blocked;
}

absl::StatusOr<Value> BlockedValues::Add(const Node& node,
                                         std::vector<Value> inputs,
                                         Attrs attrs) {
  INGOT_ASSIGN_OR_RETURN(
      Node * made, function_->AddOp(node.op->name, node.name, std::move(inputs),
                                    std::move(attrs)));
  made->sources.Add(node.sources);
  preferred_names_.emplace_back(made, node.name);
  return Value{made};
}

absl::StatusOr<Value> BlockedValues::Reshaped(const Value& value, Shape shape,
                                              absl::string_view name) {
  if (SameShape(value.type().shape, shape)) return value;
  return AddFolded(function_, "reshape", name, {value}, {{"shape", shape}});
}

absl::StatusOr<Value> BlockedValues::Transformed(const Value& value,
                                                 absl::string_view from,
                                                 absl::string_view to,
                                                 absl::string_view name,
                                                 const std::string& target) {
  Attrs attrs = {{"src", std::string(from)}, {"dst", std::string(to)}};
  if (!target.empty()) attrs.Set("target", target);
  return AddFolded(function_, "layout_transform", name, {value},
                   std::move(attrs));
}

absl::StatusOr<Value> BlockedValues::Plain(const Value& value) {
  const auto made = blocked_.find(value);
  if (made == blocked_.end()) return value;
  const Blocked* const blocked = &made->second.blocked;
  if (auto it = plain_.find(value); it != plain_.end()) return it->second;
  const Shape& shape = value.type().shape;
  const std::string& name = value.node->name;
  Value plain = blocked->value;
  if (!blocked->padded() && IsPlane(WithUnitHeight(shape))) {
    INGOT_ASSIGN_OR_RETURN(plain, Reshaped(plain, shape, name));
  } else {
    INGOT_ASSIGN_OR_RETURN(
        plain, Transformed(plain, DataLayout(blocked->block), "NCHW", name,
                           made->second.target));
    if (blocked->padded()) {
      INGOT_ASSIGN_OR_RETURN(
          plain, AddFolded(function_, "slice", name, {plain},
                           {{"axes", Ints{1}},
                            {"starts", MakeShape({0})},
                            {"ends", MakeShape({blocked->channels})}}));
    }
    INGOT_ASSIGN_OR_RETURN(plain, Reshaped(plain, shape, name));
  }
  plain_[value] = plain;
  return plain;
}

absl::StatusOr<Blocked> BlockedValues::InBlocks(const Value& value,
                                                int64_t block) {
  const Blocked* known = Find(value);
  if (known != nullptr && known->block == block) return *known;
  if (auto it = transformed_.find({value, block, target_});
      it != transformed_.end()) {
    return it->second;
  }
  INGOT_ASSIGN_OR_RETURN(Value plain, Plain(value));
  Blocked result;
  result.block = block;
  result.channels = ChannelsOf(value.type());
  result.has_unit_height = value.type().shape.size() == 3;
  const std::string name = absl::StrCat(value.node->name, "_blocked");
  const Shape shape = WithUnitHeight(value.type().shape);
  if (!result.padded() && IsPlane(shape)) {
    INGOT_ASSIGN_OR_RETURN(
        result.value,
        Reshaped(plain,
                 {shape[0], tir::MakeInt(result.channels / block),
                  tir::MakeInt(1), tir::MakeInt(1), tir::MakeInt(block)},
                 name));
  } else {
    INGOT_ASSIGN_OR_RETURN(plain, Reshaped(plain, shape, name));
    INGOT_ASSIGN_OR_RETURN(
        result.value,
        Transformed(plain, "NCHW", DataLayout(block), name, target_));
  }
  transformed_[{value, block, target_}] = result;
  return result;
}

BlockedValues::MaybeBlocked BlockedValues::Convert(const Node& node) {
  if (node.kind != NodeKind::kOp || node.outputs.size() != 1) {
    return std::nullopt;
  }
  target_ = TargetOf(node.attrs);
  layouts_ = FindLayouts(context_, target_);
  if (layouts_ == nullptr || layouts_->channel_block == nullptr) {
    return std::nullopt;
  }
  const LayoutRule rule = node.op->layout_rule;
  if (rule == LayoutRule::kChooses) return Conv(node);
  // The rest follows what it reads.
  bool blocked = false, padded = false;
  for (const Value& input : node.inputs) {
    const Blocked* known = Find(input);
    if (known == nullptr) continue;
    blocked = true;
    padded = padded || known->padded();
  }
  if (!blocked || (padded && HoldsNonFinite(node))) return std::nullopt;
  if (rule == LayoutRule::kFollows) return Pointwise(node);
  if (rule == LayoutRule::kConcatenates) return Concat(node);
  if (!IsBlocked(node.inputs[0])) return std::nullopt;
  switch (rule) {
    case LayoutRule::kLayoutAttribute:
      return Pool(node);
    case LayoutRule::kSlices:
      return Slice(node);
    case LayoutRule::kPads:
      return Pad(node);
    case LayoutRule::kResizes:
      return Resize(node);
    case LayoutRule::kReshapes:
      return Reshape(node);
    case LayoutRule::kMovesChannels:
      return MoveChannels(node);
    default:
      return std::nullopt;
  }
}

absl::StatusOr<std::optional<Value>> BlockedValues::Operand(const Value& value,
                                                            int64_t channels,
                                                            int64_t block,
                                                            size_t rank) {
  const Shape& shape = value.type().shape;
  if (const Blocked* blocked = Find(value)) {
    if (blocked->channels == channels && shape.size() == rank) {
      INGOT_ASSIGN_OR_RETURN(Blocked same, InBlocks(value, block));
      return same.value;
    }
  }
  INGOT_ASSIGN_OR_RETURN(Value plain, Plain(value));
  if (IsOneElement(value)) return plain;  // it fits everywhere
  Shape whole(rank - shape.size(), tir::MakeInt(1));
  whole.insert(whole.end(), shape.begin(), shape.end());
  whole = WithUnitHeight(whole);
  const std::string name = absl::StrCat(value.node->name, "_blocked");
  int64_t own;
  if (!tir::AsConstInt(whole[1], &own)) return std::nullopt;
  if (own == 1) {
    whole.push_back(tir::MakeInt(1));
    INGOT_ASSIGN_OR_RETURN(plain, Reshaped(plain, whole, name));
    return plain;
  }
  if (own != channels) return std::nullopt;
  if (shape.size() == rank) {
    INGOT_ASSIGN_OR_RETURN(Blocked blocked, InBlocks(value, block));
    return blocked.value;
  }
  INGOT_ASSIGN_OR_RETURN(plain, Reshaped(plain, whole, name));
  INGOT_ASSIGN_OR_RETURN(
      plain, Transformed(plain, "NCHW", DataLayout(block), name, target_));
  return plain;
}

BlockedValues::MaybeBlocked BlockedValues::Pointwise(const Node& node) {
  Blocked result;
  result.channels = ChannelsOf(node.outputs[0]);
  result.has_unit_height = node.outputs[0].shape.size() == 3;
  for (const Value& input : node.inputs) {
    const Blocked* blocked = Find(input);
    if (blocked != nullptr && blocked->channels == result.channels &&
        blocked->has_unit_height == result.has_unit_height) {
      result.block = blocked->block;
    }
  }
  if (result.channels == 0 || result.block == 0 ||
      (result.padded() && MayLeaveFinite(node))) {
    return std::nullopt;
  }
  // Operands that run along an axis of their own do not broadcast.
  const bool has_axis = node.op->FindAttr("axis") != nullptr;
  std::vector<Value> inputs;
  for (const Value& input : node.inputs) {
    if (input.node == nullptr) {  // left out
      inputs.push_back(input);
      continue;
    }
    if (has_axis && !inputs.empty() && !IsOneElement(input)) {
      return std::nullopt;
    }
    INGOT_ASSIGN_OR_RETURN(std::optional<Value> operand,
                           Operand(input, result.channels, result.block,
                                   node.outputs[0].shape.size()));
    if (!operand) return std::nullopt;
    inputs.push_back(*operand);
  }
  INGOT_ASSIGN_OR_RETURN(result.value,
                         Add(node, std::move(inputs), node.attrs));
  return result;
}

BlockedValues::MaybeBlocked BlockedValues::Pool(const Node& node) {
  const Blocked x = *Find(node.inputs[0]);
  if (x.has_unit_height) return std::nullopt;
  // A mean of powers' root is finite for zeros, as are the others.
  Attrs attrs = node.attrs;
  attrs.Set("layout", DataLayout(x.block));
  Blocked result = x;
  result.sums = 0;
  INGOT_ASSIGN_OR_RETURN(result.value, Add(node, {x.value}, attrs));
  return result;
}

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
    const int64_t sums = part.sums == part.channels ? part.sums : 0;
    result.sums = inputs.empty() || sums == result.sums ? sums : 0;
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
    int64_t start, end;
    if (axes[k] == 1 && (steps[k] != 1 || !tir::AsConstInt(starts[k], &start) ||
                         !tir::AsConstInt(ends[k], &end) || end <= start)) {
      return std::nullopt;
    }
    if (axes[k] == 1 && layouts_->one_block) {
      result.channels = result.block = end - start;
      axes[k] = kBlockAxis;
      continue;
    }
    if (axes[k] == 1) {
      if (start % result.block != 0 ||
          (end % result.block != 0 && end != result.channels &&
           result.sums < result.channels)) {
        return std::nullopt;
      }
      starts[k] = tir::MakeInt(start / result.block);
      ends[k] = tir::MakeInt(tir::CeilDivInt(end, result.block));
      result.channels = end - start;
    }
    axes[k] = BlockedAxis(axes[k], result.has_unit_height);
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

// [n, c, 1, w] to [n, c, w] and back is nothing to blocked data.
BlockedValues::MaybeBlocked BlockedValues::Reshape(const Node& node) {
  const Blocked x = *Find(node.inputs[0]);
  const Shape& from = node.inputs[0].type().shape;
  const Shape& to = node.outputs[0].shape;
  if (from.size() == to.size() || to.size() < 3 || to.size() > 4 ||
      !SameShape(WithUnitHeight(from), WithUnitHeight(to))) {
    return std::nullopt;
  }
  Blocked result = x;
  result.has_unit_height = to.size() == 3;
  return result;
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
