#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/interpreter/at_node.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/states.h"
#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/te.h"
#include "compiler/tir/interpreter.h"

namespace ingot::relay {
namespace {

// Whether no attribute holds a symbol.
bool HasStaticAttrs(const Node& node) {
  for (const auto& [name, value] : node.attrs.values()) {
    const auto* shape = std::get_if<Shape>(&value);
    if (shape != nullptr && !ConstShape(*shape)) return false;
  }
  return true;
}

std::vector<te::Expr> DimsOf(absl::Span<const int64_t> shape) {
  return MakeShape(shape);
}

// By the operator's definition, plain loops and the interpreter.
absl::StatusOr<std::vector<Tensor>> Interpret(const Node& node,
                                              absl::Span<const Tensor> operands,
                                              std::vector<Tensor> results,
                                              int64_t max_iterations) {
  if (node.op->compute == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("the interpreter cannot compute ", node.op->name,
                     ", which only some targets can"));
  }
  te::Graph graph(/*double_sums=*/true);
  std::vector<te::Tensor> inputs, given;
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    inputs.emplace_back();
    if (!operands[i].defined()) continue;
    inputs.back() =
        graph.Placeholder(absl::StrCat("in", i), operands[i].dtype(),
                          DimsOf(operands[i].shape()));
    given.push_back(inputs.back());
    arguments.push_back(operands[i]);
  }
  Attrs attrs = node.attrs;
  // Here every result has a place of its own.
  if (attrs.Has(kInPlaceAttr)) attrs.Set(kInPlaceAttr, int64_t{0});
  INGOT_ASSIGN_OR_RETURN(
      std::vector<te::Tensor> outputs,
      node.op->compute(
          ComputeContext{graph, inputs, attrs, node.outputs, node.op->name}));
  if (outputs.size() != results.size()) {
    return absl::InternalError(
        absl::StrCat(node.op->name, " computes ", outputs.size(), " results"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    // A kernel writes every output: an operand handed through is copied.
    const te::Tensor value = outputs[i];
    bool copy = graph.Find(value)->kind == te::OperationKind::kPlaceholder;
    for (size_t j = 0; j < i; ++j) copy = copy || outputs[j] == value;
    if (copy) {
      outputs[i] =
          graph.Compute(absl::StrCat("out", i), value.shape(),
                        [&](const te::Indices& at) { return value(at); });
    }
  }
  INGOT_ASSIGN_OR_RETURN(te::Schedule schedule,
                         te::Schedule::Create(graph, outputs));
  INGOT_ASSIGN_OR_RETURN(
      tir::PrimFunc func,
      te::Lower(node.op->name, graph, given, outputs, schedule));
  for (const Tensor& result : results) arguments.push_back(result);
  tir::InterpretOptions options;
  options.max_iterations = max_iterations;
  INGOT_RETURN_IF_ERROR(tir::Interpret(func, arguments, options));
  return results;
}

// One element of a kUniform operator for all of them.
absl::StatusOr<Tensor> Repeat(const Node& node,
                              absl::Span<const int64_t> shape) {
  Node one = node;
  one.attrs.Set("shape", Shape{});
  one.outputs[0].shape.clear();
  INGOT_ASSIGN_OR_RETURN(const Tensor element,
                         Tensor::Empty(node.outputs[0].dtype, {}));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> results,
                         Interpret(one, {}, {element}, 0));
  INGOT_ASSIGN_OR_RETURN(Tensor all, Tensor::Empty(element.dtype(), shape));
  auto* to = static_cast<char*>(all.mutable_raw_data());
  for (int64_t i = 0; i < all.NumElements(); ++i, to += element.bytes()) {
    std::memcpy(to, results[0].raw_data(), element.bytes());
  }
  return all;
}

// The result of a view, or by the short cut that the operator has; nothing
// where it has none.
absl::StatusOr<std::optional<Tensor>> ComputeKnown(
    const Node& node, absl::Span<const Tensor> operands,
    absl::Span<const int64_t> shape) {
  const bool known = !operands.empty() &&
                     std::all_of(operands.begin(), operands.end(),
                                 [](const Tensor& x) { return x.defined(); });
  if (!known) return std::nullopt;
  if (node.IsView()) {
    const Tensor& x = operands[0];
    const DataType dtype = node.outputs[0].dtype;
    INGOT_ASSIGN_OR_RETURN(Tensor y, dtype == x.dtype()
                                         ? x.Reshape(shape)
                                         : Tensor::FromBorrowedReadOnly(
                                               x.raw_data(), dtype, shape,
                                               std::make_shared<Tensor>(x)));
    return y;
  }
  if (node.op->compute_known == nullptr) return std::nullopt;
  return node.op->compute_known(KnownCall{node, operands, shape});
}

}  // namespace

bool IsKnown(const Node& node) {
  return HasStaticAttrs(node) &&
         std::all_of(
             node.inputs.begin(), node.inputs.end(), [](const Value& input) {
               return input.node == nullptr || input.node->constant.has_value();
             });
}

absl::StatusOr<std::vector<Tensor>> EvaluateNode(
    const Node& node, absl::Span<const Tensor> operands,
    int64_t max_iterations) {
  if (!HasStaticAttrs(node)) {
    return AtNode(node, absl::InvalidArgumentError(
                            "an attribute has a symbol without a value"));
  }
  std::vector<Tensor> results;
  for (const TensorType& type : node.outputs) {
    const auto shape = ConstShape(type.shape);
    if (!shape) {
      return AtNode(node, absl::InvalidArgumentError(
                              absl::StrCat("the result ", ToString(type),
                                           " has a size that is not known")));
    }
    if (node.outputs.size() == 1) {
      absl::StatusOr<std::optional<Tensor>> fast =
          ComputeKnown(node, operands, *shape);
      if (!fast.ok()) return AtNode(node, fast.status());
      if (fast->has_value()) return std::vector<Tensor>{**fast};
      if (node.op->Has(kUniform) && !shape->empty()) {
        absl::StatusOr<Tensor> all = Repeat(node, *shape);
        if (!all.ok()) return AtNode(node, all.status());
        return std::vector<Tensor>{*std::move(all)};
      }
    }
    absl::StatusOr<Tensor> result = Tensor::Empty(type.dtype, *shape);
    if (!result.ok()) return AtNode(node, result.status());
    results.push_back(*std::move(result));
  }
  absl::StatusOr<std::vector<Tensor>> computed =
      Interpret(node, operands, std::move(results), max_iterations);
  if (!computed.ok()) return AtNode(node, computed.status());
  return computed;
}

absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Node& node,
                                                 int64_t max_iterations) {
  std::vector<Tensor> operands;
  for (const Value& input : node.inputs) {
    if (input.node != nullptr && !input.node->constant.has_value()) {
      return AtNode(node, absl::InternalError("an operand is not a constant"));
    }
    operands.push_back(input.node == nullptr ? Tensor()
                                             : *input.node->constant);
  }
  return EvaluateNode(node, operands, max_iterations);
}

}  // namespace ingot::relay
