#include "compiler/relay/passes/byte_operands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

bool HasZero(const Node& node) {
  return node.inputs.size() > 2 && node.inputs[2].node != nullptr;
}

// Whether the node's zero points, if any, are known, and i8.
bool KnowsZero(const Node& node) {
  if (!HasZero(node)) return true;
  const Tensor* zeros = ConstantOf(node.inputs[2]);
  return zeros != nullptr && zeros->dtype() == DataType::Int(8);
}

// `node`, which rounds to i8 or dequantises them, with u8 `x` or its own
// operand, and zero points 128 above its own.
absl::StatusOr<Value> OnUnsigned(Function* function, const Node& node,
                                 const Value& x, Attrs attrs) {
  const Tensor* of_signed =
      HasZero(node) ? ConstantOf(node.inputs[2]) : nullptr;
  const bool is_one = of_signed == nullptr;
  INGOT_ASSIGN_OR_RETURN(
      Tensor zeros,
      Tensor::Empty(DataType::UInt(8),
                    is_one ? absl::Span<const int64_t>() : of_signed->shape()));
  for (int64_t i = 0; i < zeros.NumElements(); ++i) {
    const int64_t zero = is_one ? 0 : of_signed->data<int8_t>()[i];
    zeros.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(zero + kByteOffset);
  }
  const Value zero{function->AddConstant(node.name, std::move(zeros))};
  INGOT_ASSIGN_OR_RETURN(Node * made, function->AddOp(node.op->name, node.name,
                                                      {x, node.inputs[1], zero},
                                                      std::move(attrs)));
  made->sources.Add(node.sources);
  return Value{made};
}

}  // namespace

bool IsByte(DataType type) {
  return type == DataType::Int(8) || type == DataType::UInt(8);
}

std::optional<ByteData> ReadByteIntegers(const Value& x) {
  if (IsByte(x.type().dtype)) return ByteData{x, std::nullopt, std::nullopt};
  if (x.type().dtype != DataType::Int(32)) return std::nullopt;
  const Node* node = x.node;
  ByteData data;
  if (node->Is("sub") && IsOneElement(node->inputs[1]) &&
      SameShape(node->inputs[0].type().shape, x.type().shape)) {
    data.zero = node->inputs[1];
    node = node->inputs[0].node;
  }
  if (!node->Is("cast") || !IsByte(node->inputs[0].type().dtype)) {
    return std::nullopt;
  }
  data.values = node->inputs[0];
  return data;
}

std::optional<ByteData> ReadDequantizedBytes(const Value& x) {
  const Node& node = *x.node;
  if (!node.Is("dequantize") || x.type().dtype != DataType::Float(32) ||
      !IsByte(node.inputs[0].type().dtype) || !IsOneElement(node.inputs[1])) {
    return std::nullopt;
  }
  ByteData data = {node.inputs[0], std::nullopt, node.inputs[1]};
  if (node.inputs.size() > 2 && node.inputs[2].node != nullptr) {
    if (!IsOneElement(node.inputs[2])) return std::nullopt;
    data.zero = node.inputs[2];
  }
  return data;
}

absl::Status GiveByteType(RuleContext& c, DataType type, ByteData* data) {
  const DataType i32 = DataType::Int(32);
  if (data->zero) {
    const Shape scalar;
    INGOT_ASSIGN_OR_RETURN(
        data->zero, c.Add("reshape", {*data->zero}, {{"shape", scalar}}));
    if (data->zero->type().dtype != i32) {
      INGOT_ASSIGN_OR_RETURN(data->zero,
                             c.Add("cast", {*data->zero}, {{"dtype", i32}}));
    }
  } else {
    INGOT_ASSIGN_OR_RETURN(data->zero, c.Splat(i32, {}, 0));
  }
  if (data->values.type().dtype == type) return absl::OkStatus();
  const bool to_unsigned = type == DataType::UInt(8);
  INGOT_ASSIGN_OR_RETURN(
      const Value offset,
      c.Splat(i32, {}, to_unsigned ? kByteOffset : -kByteOffset));
  INGOT_ASSIGN_OR_RETURN(Value wide,
                         c.Add("cast", {data->values}, {{"dtype", i32}}));
  INGOT_ASSIGN_OR_RETURN(wide, c.Add("add", {wide, offset}));
  INGOT_ASSIGN_OR_RETURN(data->values,
                         c.Add("cast", {wide}, {{"dtype", type}}));
  INGOT_ASSIGN_OR_RETURN(data->zero, c.Add("add", {*data->zero, offset}));
  return absl::OkStatus();
}

absl::StatusOr<bool> MakeBytesUnsigned(Function* function) {
  const auto users = function->Users();
  std::vector<const Node*> found;
  for (const auto& node : function->nodes()) {
    if (node->kind != NodeKind::kOp || !node->Is("quantize") ||
        node->outputs[0].dtype != DataType::Int(8) || !KnowsZero(*node) ||
        std::count(function->outputs.begin(), function->outputs.end(),
                   Value{node.get()}) > 0) {
      continue;
    }
    const auto readers = users.find(node.get());
    if (readers != users.end() &&
        std::all_of(readers->second.begin(), readers->second.end(),
                    [](const Node* reader) {
                      return reader->kind == NodeKind::kOp &&
                             reader->op->Has(kDequantizes) &&
                             KnowsZero(*reader);
                    })) {
      found.push_back(node.get());
    }
  }
  for (const Node* node : found) {
    Attrs attrs = node->attrs;
    attrs.Set("dtype", DataType::UInt(8));
    INGOT_ASSIGN_OR_RETURN(
        const Value bytes,
        OnUnsigned(function, *node, node->inputs[0], std::move(attrs)));
    for (Node* reader : users.at(node)) {
      INGOT_ASSIGN_OR_RETURN(
          const Value real,
          OnUnsigned(function, *reader, bytes, reader->attrs));
      function->ReplaceUses(Value{reader}, real);
    }
  }
  if (found.empty()) return false;
  function->RemoveDead();
  INGOT_RETURN_IF_ERROR(function->Sort());
  return true;
}

}  // namespace ingot::relay
