#include "compiler/relay/passes/byte_operands.h"

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {

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

}  // namespace ingot::relay
