// flatten_rows: kernels around a convolution of single points, on one long row
// instead of many short ones.
//
//   @f(%x: f32[1, 272, 14, 14], …)    ->  @f(%x: f32[1, 272, 1, 196], …)
//   %y = @f(%a, %w)                       %a_1 = reshape(%a)
//                                         %y_1 = @f(%a_1, %w)
//                                         %y = reshape(%y_1)
//
// A schedule runs its vectors along rows and cannot run them over two; the
// reshapes cost nothing. For convolutions that stay in plain layout: of groups,
// mostly, that do not fill blocks of channels.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// The extents of a plane, whose rows become one.
struct Plane {
  int64_t height, width;
};

// The plane of the convolution's result, if each of its elements depends on the
// element of its data in the same place alone.
std::optional<Plane> PlaneOf(const Node& conv) {
  if (conv.outputs[0].shape.size() != 4 ||
      conv.attrs.Get<std::string>("data_layout") != "NCHW" ||
      conv.attrs.Get<std::string>("kernel_layout") != "OIHW" ||
      conv.inputs[0].node->kind != NodeKind::kInput ||
      conv.attrs.GetEach("strides", 2) != Ints{1, 1} ||
      conv.attrs.GetEach("pads", 4) != Ints{0, 0, 0, 0}) {
    return std::nullopt;
  }
  const Shape& kernel = conv.inputs[1].type().shape;
  const Shape& shape = conv.outputs[0].shape;
  const auto taps = ConstShape({kernel[2], kernel[3]});
  const auto plane = ConstShape({shape[2], shape[3]});
  if (taps != Ints{1, 1} || !plane.has_value() || (*plane)[0] <= 1) {
    return std::nullopt;
  }
  return Plane{(*plane)[0], (*plane)[1]};
}

// The shape on one row of what has a value for each element of the plane or for
// the whole of it; nothing for anything else.
std::optional<Shape> Flat(const TensorType& type, const Plane& plane) {
  Shape shape = type.shape;
  if (type.is_sequence) return std::nullopt;
  if (shape.empty()) return shape;
  if (shape.size() == 1) {
    if (tir::IsConstInt(shape[0], 1)) return shape;
    return std::nullopt;
  }
  Dim& height = shape[shape.size() - 2];
  Dim& width = shape.back();
  if (tir::IsConstInt(height, 1) && tir::IsConstInt(width, 1)) return shape;
  if (!tir::IsConstInt(height, plane.height) ||
      !tir::IsConstInt(width, plane.width)) {
    return std::nullopt;
  }
  const Shape row = MakeShape({1, plane.height * plane.width});
  height = row[0];
  width = row[1];
  return shape;
}

// The plane of a kernel that is one such convolution with element-wise
// operators around it.
std::optional<Plane> FindPlane(const Function& kernel) {
  std::optional<Plane> plane;
  for (const auto& node : kernel.nodes()) {
    if (node->kind != NodeKind::kOp) continue;
    if (IsConv(*node) && !plane.has_value()) {
      plane = PlaneOf(*node);
      if (!plane.has_value()) return std::nullopt;
    } else if (node->op->fusion != FusionKind::kElementwise &&
               node->op->fusion != FusionKind::kBroadcast) {
      return std::nullopt;
    }
  }
  if (!plane.has_value()) return std::nullopt;
  for (const auto& node : kernel.nodes()) {
    for (const TensorType& type : node->outputs) {
      if (!Flat(type, *plane).has_value()) return std::nullopt;
    }
  }
  return plane;
}

// Changes the types of the kernel's values; false, and nothing changed, where
// an operator's attributes do not allow it.
bool Flatten(const Plane& plane, Function* kernel) {
  std::vector<std::vector<TensorType>> before;
  for (const auto& node : kernel->nodes()) before.push_back(node->outputs);
  bool done = true;
  for (const auto& node : kernel->nodes()) {
    std::vector<TensorType> wanted = node->outputs;
    for (TensorType& type : wanted) type.shape = *Flat(type, plane);
    if (node->kind == NodeKind::kOp) {
      const absl::StatusOr<std::vector<TensorType>> inferred =
          InferTypes(*node->op, node->inputs, node->attrs);
      done = done && inferred.ok() && inferred->size() == wanted.size();
      for (size_t i = 0; done && i < wanted.size(); ++i) {
        done = SameShape((*inferred)[i].shape, wanted[i].shape);
      }
    }
    node->outputs = std::move(wanted);
  }
  if (done) return true;
  size_t i = 0;
  for (const auto& node : kernel->nodes()) node->outputs = before[i++];
  return false;
}

absl::StatusOr<Value> Reshaped(const Value& value, const Shape& shape,
                               Function* function) {
  INGOT_ASSIGN_OR_RETURN(Node * node,
                         function->AddOp("reshape", value.node->name, {value},
                                         {{"shape", shape}}));
  return Value{node};
}

// Gives a call of the flattened kernel operands and results of its types.
absl::Status AdaptCall(const Function& kernel, Function* caller, Node* call) {
  for (size_t i = 0; i < call->inputs.size(); ++i) {
    const Shape& taken = kernel.inputs[i]->outputs[0].shape;
    if (SameShape(call->inputs[i].type().shape, taken)) continue;
    INGOT_ASSIGN_OR_RETURN(call->inputs[i],
                           Reshaped(call->inputs[i], taken, caller));
  }
  for (size_t k = 0; k < call->outputs.size(); ++k) {
    const Shape before = call->outputs[k].shape;
    call->outputs[k] = kernel.outputs[k].type();
    if (SameShape(before, call->outputs[k].shape)) continue;
    const Value result{call, static_cast<int>(k)};
    INGOT_ASSIGN_OR_RETURN(const Value shown, Reshaped(result, before, caller));
    caller->ReplaceUses(result, shown);
    shown.node->inputs[0] = result;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> FlattenRows(Module* module, PassContext*) {
  std::set<std::string> flattened;
  for (const auto& function : module->functions()) {
    if (!function->attrs.Has("primitive")) continue;
    const std::optional<Plane> plane = FindPlane(*function);
    if (plane.has_value() && Flatten(*plane, function.get())) {
      flattened.insert(function->name);
    }
  }
  if (flattened.empty()) return false;
  for (const auto& function : module->functions()) {
    std::vector<Node*> calls;
    for (const auto& node : function->nodes()) {
      if (flattened.count(node->callee) != 0) calls.push_back(node.get());
    }
    for (Node* call : calls) {
      INGOT_RETURN_IF_ERROR(
          AdaptCall(*module->Find(call->callee), function.get(), call));
    }
    if (!calls.empty()) INGOT_RETURN_IF_ERROR(function->Sort());
  }
  return true;
}

}  // namespace ingot::relay
