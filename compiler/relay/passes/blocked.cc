#include "compiler/relay/passes/blocked.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/tir/arith/interval.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

bool IsPlane(const Shape& nchw) {
  return tir::IsConstInt(nchw[2], 1) && tir::IsConstInt(nchw[3], 1);
}

// The layouts that the target wants; null for a device that wants none.
const LayoutPreferences* FindLayouts(const PassContext& context,
                                     const std::string& target) {
  if (target.empty()) return &context.layouts;
  const auto found = context.device_layouts.find(target);
  return found == context.device_layouts.end() ? nullptr : &found->second;
}

// Whether more than one operand is no constant.
bool JoinsData(const Node& node) {
  return std::count_if(
             node.inputs.begin(), node.inputs.end(), [](const Value& input) {
               return input.node != nullptr && ConstantOf(input) == nullptr;
             }) > 1;
}

}  // namespace

Shape WithUnitHeight(Shape shape) {
  if (shape.size() == 3) shape.insert(shape.begin() + 2, tir::MakeInt(1));
  return shape;
}

std::string DataLayout(int64_t block) {
  return absl::StrCat("NCHW", block, "c");
}

int64_t ChannelsOf(const TensorType& type) {
  int64_t channels = 0;
  if (type.shape.size() != 3 && type.shape.size() != 4) return 0;
  return tir::AsConstInt(type.shape[1], &channels) ? channels : 0;
}

bool FillingUpIsMuch(int64_t channels, int64_t block) {
  constexpr double kMuch = 1.25;
  const int64_t filled = tir::CeilDivInt(channels, block) * block;
  return static_cast<double>(filled) >= kMuch * static_cast<double>(channels);
}

BlockedValues::BlockedValues(Function* function, const PassContext& context)
    : function_(function), context_(context) {
  const auto& nodes = function->nodes();
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node* const node = it->get();
    if (node->kind != NodeKind::kOp) continue;
    const LayoutRule rule = node->op->layout_rule;
    const bool passes_on = rule == LayoutRule::kFollows ||
                           rule == LayoutRule::kReshapes ||
                           rule == LayoutRule::kTurns;
    if (rule == LayoutRule::kFollows && JoinsData(*node)) {
      read_in_blocks_.insert(node);
    }
    if (rule == LayoutRule::kPlainOnly ||
        (passes_on && read_in_blocks_.count(node) == 0)) {
      continue;
    }
    for (const Value& input : node->inputs) read_in_blocks_.insert(input.node);
  }
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
  if (auto it = plain_.find(value); it != plain_.end()) return it->second;
  const auto made = blocked_.find(value);
  if (made == blocked_.end()) return value;
  const Blocked* const blocked = &made->second.blocked;
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

BlockedValues::MaybeBlocked BlockedValues::Convert(Node* made) {
  const Node& node = *made;
  if (node.kind != NodeKind::kOp || node.outputs.size() != 1) {
    return std::nullopt;
  }
  target_ = TargetOf(node.attrs);
  // A view is where its operand is.
  if (const auto it =
          blocked_.find(node.inputs.empty() ? Value{} : node.inputs[0]);
      node.IsView() && it != blocked_.end()) {
    target_ = it->second.target;
  }
  layouts_ = FindLayouts(context_, target_);
  if (layouts_ == nullptr || layouts_->channel_block == nullptr) {
    return std::nullopt;
  }
  const LayoutRule rule = node.op->layout_rule;
  if (rule == LayoutRule::kChooses) return Conv(node);
  if (rule == LayoutRule::kTurns) return Turn(made);
  // The rest follows what it reads.
  if (std::none_of(node.inputs.begin(), node.inputs.end(),
                   [&](const Value& input) { return IsBlocked(input); })) {
    return std::nullopt;
  }
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

bool BlockedValues::HadBetterLeave(const Node& node,
                                   const Blocked& result) const {
  return FillingUpIsMuch(result.channels, result.block) &&
         !node.op->Has(kCheap) && node.outputs[0].dtype.is_float() &&
         read_in_blocks_.count(&node) == 0;
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
      HadBetterLeave(node, result)) {
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
  Attrs attrs = node.attrs;
  attrs.Set("layout", DataLayout(x.block));
  Blocked result = x;
  INGOT_ASSIGN_OR_RETURN(result.value, Add(node, {x.value}, attrs));
  return result;
}

}  // namespace ingot::relay
