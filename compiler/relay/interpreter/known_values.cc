#include "compiler/relay/interpreter/known_values.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/interpreter/symbolic.h"
#include "compiler/relay/op.h"

namespace ingot::relay {
namespace {

// The most that interpreting one call may cost: some milliseconds.
constexpr int64_t kMostIterations = 1 << 17;

Partial PartialOf(const Known& known) {
  Partial partial{known.dtype, known.shape, {}};
  for (const KnownNumber& number : known.values) {
    partial.values.push_back(Scalar::Of(known.dtype, number));
  }
  return partial;
}

// Nothing where an element is unknown.
std::optional<Known> KnownOf(const Partial& partial) {
  Known known{partial.dtype, partial.shape, {}};
  for (const Scalar& value : partial.values) {
    if (!value.known()) return std::nullopt;
    known.values.push_back(value.ToKnown(partial.dtype));
  }
  return known;
}

// Whether following the call could tell something about its results.
bool IsSmall(const Node& node) {
  for (const TensorType& type : node.outputs) {
    const auto shape = ConstShape(type.shape);
    if (type.is_sequence || !shape) return false;
    const absl::StatusOr<int64_t> count = CountElements(*shape);
    if (!count.ok() || *count > kMostKnownElements) return false;
  }
  return true;
}

// A call whose definition is loops, on constants.
std::optional<std::vector<Partial>> Interpret(
    const Node& node, absl::Span<const Partial* const> operands) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    tensors.emplace_back();
    if (node.inputs[i].node == nullptr) continue;
    if (operands[i] == nullptr) return std::nullopt;
    const std::optional<Known> known = KnownOf(*operands[i]);
    if (!known || !known->AllConstant()) return std::nullopt;
    absl::StatusOr<Tensor> tensor = TensorFromKnown(*known);
    if (!tensor.ok()) return std::nullopt;
    tensors.back() = *std::move(tensor);
  }
  const absl::StatusOr<std::vector<Tensor>> results =
      EvaluateNode(node, tensors, kMostIterations);
  if (!results.ok()) return std::nullopt;
  std::vector<Partial> partials;
  for (const Tensor& result : *results) {
    const std::optional<Known> known = KnownFromTensor(result);
    if (!known) return std::nullopt;
    partials.push_back(PartialOf(*known));
  }
  return partials;
}

bool KnowsSomething(const Partial* partial) {
  return partial != nullptr &&
         std::any_of(partial->values.begin(), partial->values.end(),
                     [](const Scalar& value) { return value.known(); });
}

}  // namespace

KnownValues::KnownValues() = default;
KnownValues::KnownValues(KnownValues&&) noexcept = default;
KnownValues& KnownValues::operator=(KnownValues&&) noexcept = default;
KnownValues::~KnownValues() = default;

void KnownValues::Set(const Value& value, const Known& known) {
  values_[value] = std::make_unique<Partial>(PartialOf(known));
  all_known_[value] = known;
}

const Known* KnownValues::Of(const Value& value) {
  auto found = all_known_.find(value);
  if (found != all_known_.end()) return &found->second;
  const Partial* partial = Find(value);
  if (partial == nullptr) return nullptr;
  std::optional<Known> known = KnownOf(*partial);
  if (!known) return nullptr;
  return &(all_known_[value] = *std::move(known));
}

std::vector<tir::Expr> KnownValues::Integers(const Value& value) {
  const TensorType& type = value.type();
  const auto shape = ConstShape(type.shape);
  if (type.is_sequence || !shape || shape->size() > 1 ||
      (!type.dtype.is_integer() && !type.dtype.is_bool())) {
    return {};
  }
  const int64_t count = shape->empty() ? 1 : (*shape)[0];
  if (count > kMostKnownElements) return {};
  std::vector<tir::Expr> elements(count);
  const Partial* partial = Find(value);
  for (int64_t i = 0; partial != nullptr && i < count; ++i) {
    const Scalar& element = partial->values[i];
    if (element.known()) elements[i] = element.ToKnown(type.dtype).integer;
  }
  return elements;
}

const Partial* KnownValues::Find(const Value& value) {
  // Operands first, without recursion: a model may be deep. The operands of a
  // tensor that is not small are not visited.
  std::vector<const Node*> stack = {value.node};
  while (!stack.empty()) {
    const Node& node = *stack.back();
    const Value first{const_cast<Node*>(&node), 0};
    if (values_.count(first) > 0) {
      stack.pop_back();
      continue;
    }
    const bool follows =
        node.kind == NodeKind::kOp && !node.IsExecutorStep() && IsSmall(node);
    bool ready = true;
    for (size_t i = 0; follows && i < node.inputs.size(); ++i) {
      const Node* operand = node.inputs[i].node;
      if (operand == nullptr || values_.count(Value{node.inputs[i].node}) > 0) {
        continue;
      }
      stack.push_back(operand);
      ready = false;
    }
    if (!ready) continue;
    for (int i = 0; i < static_cast<int>(node.outputs.size()); ++i) {
      values_[Value{first.node, i}] = nullptr;
    }
    if (follows || node.kind == NodeKind::kConstant) Evaluate(node);
    stack.pop_back();
  }
  return values_[value].get();
}

void KnownValues::Evaluate(const Node& node) {
  auto* const self = const_cast<Node*>(&node);  // a Value holds no const Node
  if (node.kind == NodeKind::kConstant) {
    const std::optional<Known> known = KnownFromTensor(*node.constant);
    if (known) values_[{self}] = std::make_unique<Partial>(PartialOf(*known));
    return;
  }
  std::vector<const Partial*> operands;
  bool knows_something = node.op->min_inputs == 0;
  for (const Value& input : node.inputs) {
    operands.push_back(input.node == nullptr ? nullptr : values_[input].get());
    knows_something = knows_something || KnowsSomething(operands.back());
  }
  if (!knows_something) return;
  std::optional<std::vector<Partial>> results =
      EvaluateSymbolic(node, operands);
  if (!results) results = Interpret(node, operands);
  for (size_t i = 0; results && i < results->size(); ++i) {
    values_[{self, static_cast<int>(i)}] =
        std::make_unique<Partial>(std::move((*results)[i]));
  }
}

}  // namespace ingot::relay
