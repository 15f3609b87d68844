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
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/kernel_symbols.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// Dimensions that become one, of `rows`: consecutive ones with `after` others
// after them, in all values of a kernel but those that stay as they are: a
// product's weights, and inputs that are there for their shapes alone.
struct Run {
  Shape extents;
  size_t after;
  std::set<const Node*> others;
  Dim rows = nullptr;
};

bool IsOne(const Dim& extent) { return tir::IsConstInt(extent, 1); }

// Whether more than one dimension has, or may have, more than one element.
bool IsWorthwhile(const Shape& extents) {
  int64_t longer = 0;
  for (const Dim& extent : extents) longer += !IsOne(extent);
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
  if (taps != Ints{1, 1} || IsOne(shape[2])) return std::nullopt;
  return Run{{shape[2], shape[3]}, block, {conv.inputs[1].node}};
}

// The rows of a product's data, which are in all dimensions but the last.
std::optional<Run> RowsOfProduct(const Node& product) {
  const Shape& shape = product.outputs[0].shape;
  if (product.inputs[0].type().shape.size() != shape.size()) {
    return std::nullopt;
  }
  Shape rows(shape.begin(), shape.end() - 1);
  if (!IsWorthwhile(rows)) return std::nullopt;
  return Run{std::move(rows), 1, {product.inputs[1].node}};
}

// The same of a convolution in blocks of channels.
std::optional<Run> RowsOfPackedConv(const Node& conv) {
  const Shape& shape = conv.outputs[0].shape;
  if (conv.attrs.GetEach("kernel", 2) != Ints{1, 1} ||
      conv.attrs.GetEach("strides", 2) != Ints{1, 1} ||
      conv.attrs.GetEach("pads", 4) != Ints{0, 0, 0, 0} || IsOne(shape[2])) {
    return std::nullopt;
  }
  return Run{{shape[2], shape[3]}, 1, {conv.inputs[1].node}};
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
  for (size_t d = 0; d < present; ++d) {
    const Dim& extent = run.extents[run.extents.size() - 1 - d];
    const Dim& dim = shape[rank - 1 - d];
    all = all && SameShape({dim}, {extent});
    ones = ones && IsOne(dim);
  }
  if (ones) return shape;
  if (!all) return std::nullopt;
  for (size_t d = 0; d < present; ++d) shape[rank - 1 - d] = tir::MakeInt(1);
  shape[rank - 1] = run.rows;
  return shape;
}

// How many elements there are.
Dim ProductOf(const Shape& extents) {
  Dim product = tir::MakeInt(1);
  for (const Dim& extent : extents) product = product * extent;
  return SimplifyDim(product);
}

// How many rows a kernel has: a symbol of its own, where that is not known, so
// that it need not know the symbols it is made of.
Dim RowsOfAll(const Shape& extents, const Function& kernel) {
  Dim rows = ProductOf(extents);
  if (ConstShape({rows}).has_value()) return rows;
  return SymbolMaker(kernel).Make("rows");
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
    if (node->kind == NodeKind::kOp && node->op->Has(kLooksUp)) {
      run->others.insert(node->inputs[1].node);
    }
  }
  run->rows = RowsOfAll(run->extents, kernel);
  run->others.merge(InputsNotRead(kernel));
  for (const auto& node : kernel.nodes()) {
    for (const TensorType& type : node->outputs) {
      if (run->others.count(node.get()) == 0 && !Flat(type, *run).has_value()) {
        return std::nullopt;
      }
    }
  }
  return run;
}

// How many pairs of dimensions the kernel's operators take for equal.
size_t CountAssumptions(const Function& kernel) {
  std::vector<DimAssumption> assumed;
  for (const auto& node : kernel.nodes()) {
    if (node->kind != NodeKind::kOp) continue;
    InferTypes(*node->op, node->inputs, node->attrs, &assumed)
        .status()
        .IgnoreError();
  }
  return assumed.size();
}

// Changes the types of the kernel's values; false, and nothing changed, where
// an operator's attributes do not allow it, or where it would have to take the
// number of rows for that of something else, as of scales along one of their
// dimensions.
bool Flatten(const Run& run, Function* kernel) {
  std::vector<std::vector<TensorType>> before;
  for (const auto& node : kernel->nodes()) before.push_back(node->outputs);
  const size_t assumptions = CountAssumptions(*kernel);
  bool done = true;
  for (const auto& node : kernel->nodes()) {
    std::vector<TensorType> wanted = node->outputs;
    for (TensorType& type : wanted) {
      if (run.others.count(node.get()) == 0) type.shape = *Flat(type, run);
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
  if (done && CountAssumptions(*kernel) <= assumptions) return true;
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

// A shape of a kernel's in terms of those who call it.
Shape ForCaller(Shape shape, const Run& run) {
  const auto* symbol = tir::As<tir::Var>(run.rows);
  if (symbol == nullptr) return shape;
  const Dim rows = ProductOf(run.extents);
  for (Dim& dim : shape) dim = tir::Substitute(dim, {{symbol, rows}});
  return shape;
}

// Gives a call of the flattened kernel operands and results of its types.
absl::Status AdaptCall(const Function& kernel, const Run& run, Function* caller,
                       Node* call) {
  for (size_t i = 0; i < call->inputs.size(); ++i) {
    const Shape taken = ForCaller(kernel.inputs[i]->outputs[0].shape, run);
    if (SameShape(call->inputs[i].type().shape, taken)) continue;
    INGOT_ASSIGN_OR_RETURN(call->inputs[i],
                           Reshaped(call->inputs[i], taken, caller));
  }
  for (size_t k = 0; k < call->outputs.size(); ++k) {
    const Shape before = call->outputs[k].shape;
    call->outputs[k].shape = ForCaller(kernel.outputs[k].type().shape, run);
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
  std::map<std::string, Run> flattened;  // by the name of the kernel
  for (const auto& function : module->functions()) {
    if (!function->attrs.Has("primitive")) continue;
    const std::optional<Run> run = FindRows(*function);
    if (run.has_value() && Flatten(*run, function.get())) {
      flattened.emplace(function->name, *run);
    }
  }
  if (flattened.empty()) return false;
  for (const auto& function : module->functions()) {
    std::vector<Node*> calls;
    for (const auto& node : function->nodes()) {
      if (flattened.count(node->callee) != 0) calls.push_back(node.get());
    }
    for (Node* call : calls) {
      INGOT_RETURN_IF_ERROR(AdaptCall(*module->Find(call->callee),
                                      flattened.at(call->callee),
                                      function.get(), call));
    }
    if (!calls.empty()) INGOT_RETURN_IF_ERROR(function->Sort());
  }
  return true;
}

}  // namespace ingot::relay
