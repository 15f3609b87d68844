// Rules on what lies between `dequantize` and `quantize`.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

// A scale and a zero point of all elements.
struct Step {
  double scale = 0;
  double zero = 0;
  bool operator==(const Step& other) const {
    return scale == other.scale && zero == other.zero;
  }
};

bool HasZero(const Node& node) {
  return node.inputs.size() > 2 && node.inputs[2].node != nullptr;
}

bool IsForAllElements(const Node& node) {
  return IsOneElement(node.inputs[1]) &&
         (!HasZero(node) || IsOneElement(node.inputs[2]));
}

// Nothing where they are only known at run time.
std::optional<Step> StepOf(const Node& node) {
  if (!IsForAllElements(node)) return std::nullopt;
  const std::optional<double> scale = SplatOf(node.inputs[1]);
  const std::optional<double> zero =
      HasZero(node) ? SplatOf(node.inputs[2]) : 0.0;
  if (!scale || !zero) return std::nullopt;
  return Step{*scale, *zero};
}

// Whether the operator gives its first operand's elements in other places.
bool OnlyMoves(const Node& node) {
  return node.kind == NodeKind::kOp && node.outputs.size() == 1 &&
         (node.Is("transpose") || node.Is("reshape") || node.Is("slice"));
}

// quantize(dequantize(x)) by one scale and zero point -> x. The quotient of a
// byte times the scale by the scale is off by less than a half where neither
// is as large or as small as floats get.
absl::StatusOr<Value> QuantizedAgain(RuleContext&, const Node& node) {
  const Node& inner = *node.inputs[0].node;
  if (!inner.Is("dequantize")) return Value{};
  const Value& x = inner.inputs[0];
  constexpr int kByteBits = 8;
  if (x.type().dtype.bits != kByteBits ||
      x.type().dtype != node.outputs[0].dtype ||
      inner.outputs[0].dtype != DataType::Float(32)) {
    return Value{};
  }
  const std::optional<Step> step = StepOf(node);
  if (!step || !(step == StepOf(inner))) return Value{};
  constexpr double kMostSteps = 256;
  const double size = std::abs(step->scale);
  const bool is_moderate =
      size >= std::numeric_limits<float>::min() &&
      size <= std::numeric_limits<float>::max() / kMostSteps;
  return is_moderate ? x : Value{};
}

// quantize(move(dequantize(x))) -> quantize(dequantize(move(x))): bytes are
// moved, and what is left belongs together.
absl::StatusOr<Value> MoveBetweenSteps(RuleContext& c, const Node& node) {
  std::vector<const Node*> moves;
  const Node* from = node.inputs[0].node;
  while (OnlyMoves(*from)) {
    moves.push_back(from);
    from = from->inputs[0].node;
  }
  if (moves.empty() || !from->Is("dequantize") || !IsForAllElements(*from) ||
      !IsForAllElements(node)) {
    return Value{};
  }
  std::vector<Value> inputs = from->inputs;
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    std::vector<Value> operands = (*move)->inputs;
    operands[0] = inputs[0];
    INGOT_ASSIGN_OR_RETURN(inputs[0],
                           c.Add((*move)->op->name, operands, (*move)->attrs));
    inputs[0].node->sources.Add((*move)->sources);
  }
  // The axis of one scale for all elements says nothing.
  INGOT_ASSIGN_OR_RETURN(const Value real, c.Add("dequantize", inputs));
  real.node->sources.Add(from->sources);
  inputs = node.inputs;
  inputs[0] = real;
  return c.Add("quantize", inputs,
               {{"dtype", node.attrs.Get<DataType>("dtype")}});
}

constexpr Rule kRules[] = {
    {"quantized again", "quantize", 2, QuantizedAgain},
    {"move of what is quantized again", "quantize", 2, MoveBetweenSteps},
};

}  // namespace

absl::Span<const Rule> QuantizedRules() { return kRules; }

}  // namespace ingot::relay
