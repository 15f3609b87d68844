// Rules that bring bytes to whoever multiplies them: what only moves
// dequantised values moves the bytes instead, and values that are quantised
// once more as they were are the bytes that they came from.
//
//   move(dequantize(x))        ->  dequantize(move(x))
//   quantize(dequantize(x))    ->  x
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

bool Has(const Node& node, size_t operand) {
  return node.inputs.size() > operand && node.inputs[operand].node != nullptr;
}

// The `dequantize` of bytes to f32 that the node's first operand is; null for
// anything else.
const Node* DequantizedBytes(const Node& node) {
  const Node* from = node.inputs[0].node;
  const bool found = from->Is("dequantize") &&
                     from->outputs[0].dtype == DataType::Float(32) &&
                     from->inputs[0].type().dtype.is_integer() &&
                     from->inputs[0].type().dtype.bits == 8;
  return found ? from : nullptr;
}

bool HasOneScale(const Node& dequantize) {
  return IsOneElement(dequantize.inputs[1]) &&
         (!Has(dequantize, 2) || IsOneElement(dequantize.inputs[2]));
}

// The number of each byte that stands for 0; nothing where only a run knows it
// or none does.
std::optional<double> ByteOfZero(const Node& dequantize) {
  const std::optional<double> scale = SplatOf(dequantize.inputs[1]);
  if (!scale || !std::isfinite(*scale) || !HasOneScale(dequantize)) {
    return std::nullopt;
  }
  return Has(dequantize, 2) ? SplatOf(dequantize.inputs[2]) : 0.0;
}

// `node`, which moves what it reads, on the bytes.
absl::StatusOr<Value> MoveBytes(RuleContext& c, const Node& node,
                                const Node& dequantize, Attrs attrs,
                                int64_t axis) {
  INGOT_ASSIGN_OR_RETURN(
      const Value moved,
      c.Add(node.op->name, {dequantize.inputs[0]}, std::move(attrs)));
  std::vector<Value> inputs = dequantize.inputs;
  inputs[0] = moved;
  Attrs dequantized = dequantize.attrs;
  dequantized.Set("axis", axis);
  // Weights stay quantised.
  return c.AddUnfolded(dequantize.op->name, std::move(inputs),
                       std::move(dequantized));
}

// slice or transpose.
absl::StatusOr<Value> MoveOfDequantized(RuleContext& c, const Node& node) {
  const Node* const from = DequantizedBytes(node);
  if (from == nullptr || !HasOneScale(*from)) return Value{};
  return MoveBytes(c, node, *from, node.attrs, 0);
}

// Zeros around the values are zero points around the bytes.
absl::StatusOr<Value> PadOfDequantized(RuleContext& c, const Node& node) {
  const Node* const from = DequantizedBytes(node);
  if (from == nullptr || !HasOneScale(*from)) return Value{};
  Attrs attrs = node.attrs;
  if (attrs.Get<std::string>("mode") == "constant") {
    const std::optional<double> zero = ByteOfZero(*from);
    if (!zero || attrs.Get<double>("value") != 0) return Value{};
    attrs.Set("value", *zero);
  }
  return MoveBytes(c, node, *from, std::move(attrs), 0);
}

// The dimension of `to` that is dimension `axis` of `from`, with as many
// elements before it and after; nothing where there is none.
std::optional<size_t> SameAxis(const std::vector<int64_t>& from,
                               const std::vector<int64_t>& to, size_t axis) {
  int64_t before = 1;
  for (size_t d = 0; d < axis; ++d) before *= from[d];
  int64_t passed = 1;
  for (size_t d = 0; d < to.size() && passed <= before; ++d) {
    if (passed == before && to[d] == from[axis]) return d;
    passed *= to[d];
  }
  return std::nullopt;
}

absl::StatusOr<Value> ReshapeOfDequantized(RuleContext& c, const Node& node) {
  const Node* const from = DequantizedBytes(node);
  if (from == nullptr) return Value{};
  if (HasOneScale(*from)) return MoveBytes(c, node, *from, node.attrs, 0);
  const auto x = ConstShape(from->outputs[0].shape);
  const auto y = ConstShape(node.outputs[0].shape);
  if (!x || !y) return Value{};
  int64_t axis = from->attrs.Get<int64_t>("axis");
  if (axis < 0) axis += static_cast<int64_t>(x->size());
  const auto moved = SameAxis(*x, *y, static_cast<size_t>(axis));
  if (!moved) return Value{};
  return MoveBytes(c, node, *from, node.attrs, static_cast<int64_t>(*moved));
}

bool SameNumber(const Node& a, const Node& b, size_t operand) {
  if (Has(a, operand) != Has(b, operand)) return false;
  if (!Has(a, operand) || a.inputs[operand] == b.inputs[operand]) return true;
  const std::optional<double> x = SplatOf(a.inputs[operand]);
  return x && x == SplatOf(b.inputs[operand]);
}

// Products of a byte and a scale that are far from the ends of f32's range are
// off by less than a part in 2^24, and so are their quotients by the scale,
// which therefore round to the byte.
absl::StatusOr<Value> QuantizeOfDequantized(RuleContext&, const Node& node) {
  const Node* const from = DequantizedBytes(node);
  if (from == nullptr || !HasOneScale(*from) || !SameNumber(node, *from, 1) ||
      !SameNumber(node, *from, 2) ||
      from->inputs[0].type().dtype != node.outputs[0].dtype) {
    return Value{};
  }
  constexpr double kLeast = 1e-30, kMost = 1e30;
  const std::optional<double> scale = SplatOf(node.inputs[1]);
  if (!scale || !(std::abs(*scale) >= kLeast && std::abs(*scale) <= kMost)) {
    return Value{};
  }
  return from->inputs[0];
}

constexpr Rule kRules[] = {
    {"pad of bytes", "pad", 1, PadOfDequantized},
    {"slice of bytes", "slice", 1, MoveOfDequantized},
    {"transpose of bytes", "transpose", 1, MoveOfDequantized},
    {"reshape of bytes", "reshape", 1, ReshapeOfDequantized},
    {"bytes quantised again", "quantize", 2, QuantizeOfDequantized},
};

}  // namespace

absl::Span<const Rule> QuantizedMoveRules() { return kRules; }

}  // namespace ingot::relay
