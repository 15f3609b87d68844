// flatten_rows: kernels around a convolution of single points, or a product by
// one matrix, on one long row, or on many rows in one dimension, instead of
// many short ones.
//
//   @f(%x: f32[1, 272, 14, 14], …)    ->  @f(%x: f32[1, 272, 1, 196], …)
//   %y = @f(%a, %w)                       %a_1 = reshape(%a)
//                                         %y_1 = @f(%a_1, %w)
//                                         %y = reshape(%y_1)
//
// A schedule runs its vectors along rows and cannot run them over two, and its
// tiles along one dimension of rows; the reshapes cost nothing. Convolutions
// are in plain layout, as those of groups that do not fill blocks of channels,
// or on blocks.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// Dimensions that become one: consecutive ones with `after` others after them,
// in all values of a kernel but a product's weights.
struct Run {
  Ints extents;
  size_t after;
  const Node* weights = nullptr;
};

// Whether more than one dimension has more than one element.
bool IsWorthwhile(const Ints& extents) {
  int64_t longer = 0;
  for (const int64_t extent : extents) longer += extent > 1;
  return longer > 1;
}

// The rows of the convolution's result, if each of its elements depends on the
// element of its data in the same place alone.
std::optional<Run> RowsOfConv(const Node& conv) {
  // The channels of a block come after the plane.
  const size_t block =
      IsPlainLayout(conv.attrs.Get<std::string>("data_layout")) ? 0 : 1;
  if (conv.outputs[0].shape.size() != 4 + block ||
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
  return Run{*plane, block, conv.inputs[1].node};
}

// The rows of a product's data, which are in all dimensions but the last.
std::optional<Run> RowsOfProduct(const Node& product) {
  const Shape& shape = product.outputs[0].shape;
  if (product.inputs[0].type().shape.size() != shape.size()) {
    return std::nullopt;
  }
  const auto rows = ConstShape(Shape(shape.begin(), shape.end() - 1));
  if (!rows.has_value() || !IsWorthwhile(*rows)) return std::nullopt;
  return Run{*rows, 1, product.inputs[1].node};
}

// The same of a convolution in blocks of channels.
std::optional<Run> RowsOfPackedConv(const Node& conv) {
  const Shape& shape = conv.outputs[0].shape;
  const auto plane = ConstShape({shape[2], shape[3]});
  if (conv.attrs.GetEach("kernel", 2) != Ints{1, 1} ||
      conv.attrs.GetEach("strides", 2) != Ints{1, 1} ||
      conv.attrs.GetEach("pads", 4) != Ints{0, 0, 0, 0} || !plane.has_value() ||
      (*plane)[0] <= 1) {
    return std::nullopt;
  }
  return Run{*plane, 1, conv.inputs[1].node};
}

// The rows of the operator's result, if it is one that has them.
std::optional<Run> RowsOf(const Node& node) {
  if (IsConv(node)) return RowsOfConv(node);
  if (node.op->Has(kTimesPacked)) return RowsOfProduct(node);
  if ((node.op->Has(kTimesMatrix) || node.op->Has(kTimesTranspose)) &&
      node.inputs[1].type().shape.size() == 2) {
    return RowsOfProduct(node);
  }
  if (node.op->Has(kConvolvesPacked)) return RowsOfPackedConv(node);
  return std::nullopt;
}

// The shape on one row of what has a value for each element of the run or for
// the whole of it; nothing for anything else.
std::optional<Shape> Flat(const TensorType& type, const Run& run) {
  Shape shape = type.shape;
  if (type.is_sequence) return std::nullopt;
  // The dimensions of the run that the shape has: the last ones.
  const size_t rank = shape.size() - std::min(shape.size(), run.after);
  const size_t present = std::min(rank, run.extents.size());
  bool all = present == run.extents.size(), ones = true;
  int64_t elements = 1;
  for (size_t d = 0; d < present; ++d) {
    const int64_t extent = run.extents[run.extents.size() - 1 - d];
    const Dim& dim = shape[rank - 1 - d];
    all = all && tir::IsConstInt(dim, extent);
    ones = ones && tir::IsConstInt(dim, 1);
    elements *= extent;
  }
  if (ones) return shape;
  if (!all) return std::nullopt;
  const Shape row = MakeShape({1, elements});
  for (size_t d = 0; d < present; ++d) {
    shape[rank - 1 - d] = row[d == 0 ? 1 : 0];
  }
  return shape;
}

// The rows of a kernel that is one such operator with element-wise operators
// around it.
std::optional<Run> FindRows(const Function& kernel) {
  std::optional<Run> run;
  for (const auto& node : kernel.nodes()) {
    if (node->kind != NodeKind::kOp) continue;
    if (node->op->fusion == FusionKind::kAnchor && !run.has_value()) {
      if (node->inputs[0].node->kind == NodeKind::kInput) run = RowsOf(*node);
      if (!run.has_value()) return std::nullopt;
    } else if (node->op->fusion != FusionKind::kElementwise &&
               node->op->fusion != FusionKind::kBroadcast) {
      return std::nullopt;
    }
  }
  if (!run.has_value()) return std::nullopt;
  for (const auto& node : kernel.nodes()) {
    for (const TensorType& type : node->outputs) {
      if (node.get() != run->weights && !Flat(type, *run).has_value()) {
        return std::nullopt;
      }
    }
  }
  return run;
}

// Changes the types of the kernel's values; false, and nothing changed, where
// an operator's attributes do not allow it.
bool Flatten(const Run& run, Function* kernel) {
  std::vector<std::vector<TensorType>> before;
  for (const auto& node : kernel->nodes()) before.push_back(node->outputs);
  bool done = true;
  for (const auto& node : kernel->nodes()) {
    std::vector<TensorType> wanted = node->outputs;
    for (TensorType& type : wanted) {
      if (node.get() != run.weights) type.shape = *Flat(type, run);
    }
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
    const std::optional<Run> run = FindRows(*function);
    if (run.has_value() && Flatten(*run, function.get())) {
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
