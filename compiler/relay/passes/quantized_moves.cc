// Rules that bring bytes to whoever multiplies them: what only moves
// dequantised values moves the bytes instead, and values that are quantised
// once more as they were are the bytes that they came from.
//
//   move(dequantize(x))        ->  dequantize(move(x))
//   quantize(dequantize(x))    ->  x
//   quantize(concat(x, y))     ->  concat(quantize(x), quantize(y))
//   quantize(depth_to_space(x)) -> depth_to_space(quantize(x))
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

// The operands of `node`, of which the first moves and the others give symbols,
// with another first one.
std::vector<Value> WithFirst(const Node& node, const Value& first) {
  std::vector<Value> inputs = node.inputs;
  inputs[0] = first;
  return inputs;
}

// `node`, which moves what it reads, on the bytes.
absl::StatusOr<Value> MoveBytes(RuleContext& c, const Node& node,
                                const Node& dequantize, Attrs attrs,
                                int64_t axis) {
  INGOT_ASSIGN_OR_RETURN(
      const Value moved,
      c.Add(node.op->name, WithFirst(node, dequantize.inputs[0]),
            std::move(attrs)));
  Attrs dequantized = dequantize.attrs;
  dequantized.Set("axis", axis);
  // Weights stay quantised.
  return c.AddUnfolded(dequantize.op->name, WithFirst(dequantize, moved),
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

// The parts of a concatenation that is quantised as a whole become bytes before
// they are joined.
absl::StatusOr<Value> QuantizeOfConcat(RuleContext& c, const Node& node) {
  const Value& x = node.inputs[0];
  if (!x.node->Is("concat") || !c.SingleUse(x) || !HasOneScale(node)) {
    return Value{};
  }
  std::vector<Value> parts;
  for (const Value& part : x.node->inputs) {
    INGOT_ASSIGN_OR_RETURN(
        const Value bytes,
        c.Add(node.op->name, WithFirst(node, part), node.attrs));
    parts.push_back(bytes);
  }
  return c.Add(x.node->op->name, std::move(parts), x.node->attrs);
}

// Positions that interleave, and perhaps are cut, as those of transposed
// convolutions are, become bytes before they do.
absl::StatusOr<Value> QuantizeOfInterleaved(RuleContext& c, const Node& node) {
  if (!HasOneScale(node)) return Value{};
  const Node* cut = nullptr;
  Value x = node.inputs[0];
  if (x.node->kind == NodeKind::kOp && x.node->op->Has(kCuts) &&
      c.SingleUse(x)) {
    cut = x.node;
    x = cut->inputs[0];
  }
  if (!x.node->Is("depth_to_space") || !c.SingleUse(x)) return Value{};
  INGOT_ASSIGN_OR_RETURN(
      const Value bytes,
      c.Add(node.op->name, WithFirst(node, x.node->inputs[0]), node.attrs));
  INGOT_ASSIGN_OR_RETURN(
      const Value whole,
      c.Add(x.node->op->name, WithFirst(*x.node, bytes), x.node->attrs));
  return cut == nullptr
             ? whole
             : c.Add(cut->op->name, WithFirst(*cut, whole), cut->attrs);
}

// An image that is enlarged by repeating its elements.
absl::StatusOr<Value> ResizeOfDequantized(RuleContext& c, const Node& node) {
  const Node* const from = DequantizedBytes(node);
  if (from == nullptr || !HasOneScale(*from) || node.inputs.size() > 1 ||
      node.attrs.Get<std::string>("mode") != "nearest" ||
      node.attrs.Get<std::string>("coordinate_transformation_mode") ==
          "tf_crop_and_resize") {
    return Value{};
  }
  return MoveBytes(c, node, *from, node.attrs, 0);
}

// Whether each window of a pool has data in it, whatever surrounds that.
bool HasDataInEachWindow(const Node& pool) {
  using Ints = std::vector<int64_t>;
  const Ints& kernel = pool.attrs.Get<Ints>("kernel");
  const size_t n = kernel.size();
  const Ints pads = pool.attrs.GetEach("pads", 2 * n);
  const Ints strides = pool.attrs.GetEach("strides", n);
  const Ints dilations = pool.attrs.GetEach("dilations", n);
  const auto x = ConstShape(pool.inputs[0].type().shape);
  const auto y = ConstShape(pool.outputs[0].shape);
  if (!x || !y || x->size() != n + 2 || y->size() != n + 2) return false;
  for (size_t d = 0; d < n; ++d) {
    const int64_t last = ((*y)[2 + d] - 1) * strides[d] - pads[d];
    if (dilations[d] != 1 || pads[d] >= kernel[d] || last >= (*x)[2 + d]) {
      return false;
    }
  }
  return true;
}

// The greatest value stands for the greatest byte, where the scale is positive.
absl::StatusOr<Value> PoolOfDequantized(RuleContext& c, const Node& node) {
  const Node* const from = DequantizedBytes(node);
  if (from == nullptr || !HasOneScale(*from) || !HasDataInEachWindow(node)) {
    return Value{};
  }
  const std::optional<double> scale = SplatOf(from->inputs[1]);
  if (!scale || !(*scale > 0) || !std::isfinite(*scale)) return Value{};
  return MoveBytes(c, node, *from, node.attrs, 0);
}

constexpr Rule kRules[] = {
    {"pad of bytes", "pad", 1, PadOfDequantized},
    {"slice of bytes", "slice", 1, MoveOfDequantized},
    {"transpose of bytes", "transpose", 1, MoveOfDequantized},
    {"reshape of bytes", "reshape", 1, ReshapeOfDequantized},
    {"resize of bytes", "resize", 1, ResizeOfDequantized},
    {"max_pool1d of bytes", "max_pool1d", 1, PoolOfDequantized},
    {"max_pool2d of bytes", "max_pool2d", 1, PoolOfDequantized},
    {"max_pool3d of bytes", "max_pool3d", 1, PoolOfDequantized},
    {"bytes of a concat", "quantize", 2, QuantizeOfConcat},
    {"bytes that interleave", "quantize", 2, QuantizeOfInterleaved},
    {"bytes quantised again", "quantize", 2, QuantizeOfDequantized},
};

}  // namespace

absl::Span<const Rule> QuantizedMoveRules() { return kRules; }

}  // namespace ingot::relay
