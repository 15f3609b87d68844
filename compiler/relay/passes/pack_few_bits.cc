#include "compiler/relay/passes/pack_few_bits.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/few_bits.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

enum Operand { kData, kWeights, kScales, kZeros };

// A row-major matrix in panels of some of its rows, zeros beyond them:
// [rows, n] as [panels, n, rows of a panel].
absl::StatusOr<Tensor> Panels(const Tensor& matrix, int64_t panel_rows) {
  const int64_t rows = matrix.shape()[0], n = matrix.shape()[1];
  const int64_t panels = (rows + panel_rows - 1) / panel_rows;
  INGOT_ASSIGN_OR_RETURN(
      Tensor packed, Tensor::Empty(matrix.dtype(), {panels, n, panel_rows}));
  auto* to = packed.mutable_data<float>();
  std::fill(to, to + packed.NumElements(), 0.0f);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < n; ++i) {
      to[(row / panel_rows * n + i) * panel_rows + row % panel_rows] =
          matrix.data<float>()[row * n + i];
    }
  }
  return packed;
}

// Whether the operand is a constant of this type, or there is none and it may
// be left out.
bool IsConstant(const Node& node, int operand, DataType type) {
  if (operand >= static_cast<int>(node.inputs.size()) ||
      node.inputs[operand].node == nullptr) {
    return operand == kZeros;
  }
  const Tensor* tensor = ConstantOf(node.inputs[operand]);
  return tensor != nullptr && tensor->dtype() == type;
}

// Data as signed bytes in u8, with the scale and the sum of each group.
struct Rounded {
  Value bytes, scales, sums;
};

// Appends operators to a function, the first failure ending it.
class Rounder {
 public:
  Rounder(Function* function, std::string name)
      : function_(function), name_(std::move(name)) {}

  // Rounds x[..., k] as products in the form need it.
  absl::StatusOr<Rounded> Round(Value x, const FewBitsWords& form,
                                bool has_zeros) {
    Shape flat = x.type().shape;
    int64_t depth = 0;
    tir::AsConstInt(flat.back(), &depth);
    if (depth != form.depth()) {
      std::vector<int64_t> pads(2 * flat.size(), 0);
      pads.back() = form.depth() - depth;
      x = Call("pad", {x}, {{"pads", pads}});
    }
    flat.back() = tir::MakeInt(form.depth());
    Shape of_groups = flat, groups = flat;
    of_groups.back() = tir::MakeInt(form.groups());
    groups.back() = of_groups.back();
    groups.push_back(tir::MakeInt(form.group()));
    x = Call("reshape", {x}, {{"shape", groups}});
    const Attrs of_last = {
        {"axes", std::vector<int64_t>{static_cast<int64_t>(groups.size()) - 1}},
        {"keepdims", int64_t{1}}};
    const Value largest = Call("reduce_max", {Call("abs", {x})}, of_last);
    // A group of zeros is divided by something, too.
    constexpr double kMostByte = 127, kTiny = 1e-30;
    const Value factor = Call(
        "div", {Number(kMostByte), Call("maximum", {largest, Number(kTiny)})});
    const Value integers =
        Call("cast", {Call("round", {Call("mul", {x, factor})})},
             {{"dtype", DataType::Int(32)}});
    const Value scales = Call("mul", {largest, Number(1 / kMostByte)});
    Value sums = Call("reduce_sum", {integers}, of_last);
    if (!has_zeros) {
      const int half = 1 << (form.bits - 1);
      sums = Call("mul", {sums, Number(-half, DataType::Int(32))});
    }
    const Value bytes =
        Call("cast", {integers}, {{"dtype", DataType::UInt(8)}});
    const Rounded rounded = {Call("reshape", {bytes}, {{"shape", flat}}),
                             Call("reshape", {scales}, {{"shape", of_groups}}),
                             Call("reshape", {sums}, {{"shape", of_groups}})};
    INGOT_RETURN_IF_ERROR(status_);
    return rounded;
  }

 private:
  Value Call(absl::string_view op, const std::vector<Value>& inputs,
             Attrs attrs = {}) {
    if (!status_.ok()) return {};
    const absl::StatusOr<Node*> node =
        function_->AddOp(op, name_, inputs, std::move(attrs));
    status_ = node.status();
    return node.ok() ? Value{*node} : Value{};
  }

  Value Number(double number, DataType type = DataType::Float(32)) {
    if (!status_.ok()) return {};
    const absl::StatusOr<Value> value =
        AddSplat(function_, name_, type, {}, number);
    status_ = value.status();
    return value.ok() ? *value : Value{};
  }

  Function* function_;
  const std::string name_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Value> PackFewBitsProduct(Function* function, const Node& node,
                                         int64_t columns) {
  const Value x = node.inputs[kData];
  if (node.attrs.Get<int64_t>("data_bits") == 0 ||
      x.type().dtype != DataType::Float(32) ||
      !IsConstant(node, kWeights, DataType::UInt(8)) ||
      !IsConstant(node, kScales, DataType::Float(32)) ||
      !IsConstant(node, kZeros, DataType::Float(32))) {
    return Value{};
  }
  const Value weights = node.inputs[kWeights];
  const Tensor* bytes = ConstantOf(weights);
  const auto bits = node.attrs.Get<int64_t>("bits");
  if (bytes->NumElements() == 0) return Value{};
  const FewBitsWords form{bits, bytes->shape()[1],
                          bytes->shape()[2] / FewBitsWords::kBytes, columns};
  const bool has_zeros =
      node.inputs.size() > kZeros && node.inputs[kZeros].node != nullptr;
  INGOT_ASSIGN_OR_RETURN(
      const Rounded data,
      Rounder(function, node.name).Round(x, form, has_zeros));
  INGOT_ASSIGN_OR_RETURN(Tensor words, PackFewBits(*bytes, bits, columns));
  std::vector<Value> operands = {data.bytes, data.scales, data.sums};
  Node* const words_node =
      function->AddConstant(weights.node->name, std::move(words));
  words_node->sources.Add(weights.node->sources);
  operands.push_back(Value{words_node});
  for (int i : {kScales, kZeros}) {
    if (i >= static_cast<int>(node.inputs.size()) ||
        node.inputs[i].node == nullptr) {
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(Tensor panels,
                           Panels(*ConstantOf(node.inputs[i]), columns));
    Node* const panels_node =
        function->AddConstant(node.inputs[i].node->name, std::move(panels));
    panels_node->sources.Add(node.inputs[i].node->sources);
    operands.push_back(Value{panels_node});
  }
  INGOT_ASSIGN_OR_RETURN(
      Node * product,
      function->AddOp("dense_bits_packed", node.name, operands,
                      {{"bits", bits}, {"units", bytes->shape()[0]}}));
  return Value{product};
}

}  // namespace ingot::relay
