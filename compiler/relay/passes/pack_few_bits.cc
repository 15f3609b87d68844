#include "compiler/relay/passes/pack_few_bits.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/few_bits.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/panels.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

enum Operand { kData, kWeights, kScales, kZeros };

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
      x = Add("pad", {x}, {{"pads", pads}});
    }
    flat.back() = tir::MakeInt(form.depth());
    Shape of_groups = flat, groups = flat;
    of_groups.back() = tir::MakeInt(form.groups());
    groups.back() = of_groups.back();
    groups.push_back(tir::MakeInt(form.group()));
    x = Add("reshape", {x}, {{"shape", groups}});
    const Attrs of_last = {
        {"axes", std::vector<int64_t>{static_cast<int64_t>(groups.size()) - 1}},
        {"keepdims", int64_t{1}}};
    const Value largest = Add("reduce_max", {Add("abs", {x})}, of_last);
    // A group of zeros is divided by something, too.
    constexpr double kMostByte = 127, kTiny = 1e-30;
    const Value factor = Add(
        "div", {Number(kMostByte), Add("maximum", {largest, Number(kTiny)})});
    const Value numbers = Add("round", {Add("mul", {x, factor})});
    // Exact, and NaN where the group has an infinity or a NaN: so is its scale.
    const Value sum = Add("reduce_sum", {numbers}, of_last);
    const Value scales =
        Add("add", {Add("mul", {largest, Number(1 / kMostByte)}),
                    Add("mul", {sum, Number(0)})});
    const int half = 1 << (form.bits - 1);
    const Value sums =
        Add("cast", {has_zeros ? sum : Add("mul", {sum, Number(-half)})},
            {{"dtype", DataType::Int(32)}});
    const Value bytes =
        Add("cast", {Add("cast", {numbers}, {{"dtype", DataType::Int(32)}})},
            {{"dtype", DataType::UInt(8)}});
    const Rounded rounded = {Add("reshape", {bytes}, {{"shape", flat}}),
                             Add("reshape", {scales}, {{"shape", of_groups}}),
                             Add("reshape", {sums}, {{"shape", of_groups}})};
    INGOT_RETURN_IF_ERROR(status_);
    return rounded;
  }

 private:
  Value Add(absl::string_view op, const std::vector<Value>& inputs,
            Attrs attrs = {}) {
    if (!status_.ok()) return {};
    const absl::StatusOr<Node*> node =
        function_->AddOp(op, name_, inputs, std::move(attrs));
    status_ = node.status();
    return node.ok() ? Value{*node} : Value{};
  }

  Value Number(double number) {
    if (!status_.ok()) return {};
    const absl::StatusOr<Value> value =
        AddSplat(function_, name_, DataType::Float(32), {}, number);
    status_ = value.status();
    return value.ok() ? *value : Value{};
  }

  Function* function_;
  const std::string name_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Value> PackFewBitsProduct(Function* function, const Node& node,
                                         int64_t columns, int64_t tile_rows) {
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
  std::vector<Value> operands = {data.bytes, data.scales, data.sums};
  // Adds what stands for the operand `from`, with its name.
  const auto add = [&](const Value& from, Tensor packed) {
    Node* const constant =
        function->AddConstant(from.node->name, std::move(packed));
    constant->sources.Add(from.node->sources);
    operands.push_back(Value{constant});
  };
  INGOT_ASSIGN_OR_RETURN(Tensor words, PackFewBits(*bytes, bits, columns));
  add(weights, std::move(words));
  for (int i = kScales; i <= (has_zeros ? kZeros : kScales); ++i) {
    INGOT_ASSIGN_OR_RETURN(Tensor panels,
                           Panels(*ConstantOf(node.inputs[i]), form.blocks,
                                  bytes->shape()[0], 1, form.blocks, columns));
    add(node.inputs[i], std::move(panels));
  }
  INGOT_ASSIGN_OR_RETURN(
      Node * product, function->AddOp("dense_bits_packed", node.name, operands,
                                      {{"bits", bits},
                                       {"units", bytes->shape()[0]},
                                       {"tile_rows", tile_rows}}));
  return Value{product};
}

}  // namespace ingot::relay
