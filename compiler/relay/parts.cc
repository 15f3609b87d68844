#include "compiler/relay/parts.h"

#include <algorithm>

#include "compiler/relay/op.h"
#include "compiler/tir/ir.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// The shape of a tensor that has elements; nothing if that is not known.
std::optional<Ints> KnownShape(const TensorType& type) {
  if (type.is_sequence) return std::nullopt;
  std::optional<Ints> shape = ConstShape(type.shape);
  const bool has_elements =
      shape && std::all_of(shape->begin(), shape->end(),
                           [](int64_t extent) { return extent > 0; });
  return has_elements ? shape : std::nullopt;
}

int64_t BytesOf(const Ints& shape, const TensorType& type) {
  int64_t bytes = type.dtype.bytes();
  for (int64_t extent : shape) bytes *= extent;
  return bytes;
}

}  // namespace

Value Viewed(Value value) {
  while (value.node->IsView()) value = value.node->inputs[0];
  return value;
}

std::optional<std::vector<int64_t>> OffsetsOfJoined(const Node& node) {
  if (node.kind != NodeKind::kOp || !node.op->Has(kJoins)) return std::nullopt;
  const std::optional<Ints> whole = KnownShape(node.outputs[0]);
  if (!whole) return std::nullopt;
  const auto axis = node.attrs.Get<int64_t>("axis");
  if (std::any_of(whole->begin(), whole->begin() + axis,
                  [](int64_t extent) { return extent != 1; })) {
    return std::nullopt;
  }
  std::vector<int64_t> offsets;
  int64_t next = 0;
  for (const Value& operand : node.inputs) {
    const std::optional<Ints> shape = KnownShape(operand.type());
    if (!shape) return std::nullopt;
    offsets.push_back(next);
    next += BytesOf(*shape, operand.type());
  }
  return offsets;
}

std::optional<int64_t> OffsetOfCut(const Node& node) {
  // Further operands bind symbols.
  if (node.kind != NodeKind::kOp || !node.op->Has(kCuts) ||
      node.inputs.size() != 1) {
    return std::nullopt;
  }
  const TensorType& type = node.inputs[0].type();
  const std::optional<Ints> whole = KnownShape(type);
  const std::optional<Ints> part = KnownShape(node.outputs[0]);
  if (!whole || !part) return std::nullopt;
  // All dimensions after the first one with more than one element are whole.
  bool inside = false;
  for (size_t d = 0; d < whole->size(); ++d) {
    if (inside && (*part)[d] != (*whole)[d]) return std::nullopt;
    inside = inside || (*part)[d] > 1;
  }
  const Ints& axes = node.attrs.Get<Ints>("axes");
  const Shape& starts = node.attrs.Get<Shape>("starts");
  const Ints steps = node.attrs.GetEach("steps", axes.size());
  Ints first(whole->size(), 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    const bool one = (*part)[axes[k]] == 1;
    if (!tir::AsConstInt(starts[k], &first[axes[k]]) ||
        (steps[k] != 1 && !one)) {
      return std::nullopt;
    }
  }
  int64_t offset = 0;
  for (size_t d = 0; d < whole->size(); ++d) {
    offset = offset * (*whole)[d] + first[d];
  }
  return offset * type.dtype.bytes();
}

}  // namespace ingot::relay
