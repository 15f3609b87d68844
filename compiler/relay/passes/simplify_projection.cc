// The rule on parts of a product by a constant, as attention makes its queries,
// keys and values: by one matrix, and then takes the result apart.
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// A part of a value: places along one axis.
struct Part {
  int64_t axis, start, end;
};

// The part that a slice takes of its operand; nothing where its places are not
// neighbours along one axis.
std::optional<Part> PartOf(const Node& node) {
  if (!node.Is("slice") || node.inputs.size() != 1) return std::nullopt;
  const Ints& axes = node.attrs.Get<Ints>("axes");
  Part part;
  if (axes.size() != 1 || node.attrs.GetEach("steps", 1) != Ints{1} ||
      !tir::AsConstInt(node.attrs.Get<Shape>("starts")[0], &part.start) ||
      !tir::AsConstInt(node.attrs.Get<Shape>("ends")[0], &part.end)) {
    return std::nullopt;
  }
  part.axis = axes[0];
  int64_t extent;
  const bool fits =
      tir::AsConstInt(node.inputs[0].type().shape[part.axis], &extent) &&
      0 <= part.start && part.start < part.end && part.end <= extent;
  return fits ? std::optional<Part>(part) : std::nullopt;
}

// The only operand that is no constant; null where there are several.
const Value* DataOf(const Node& node) {
  const Value* data = nullptr;
  for (const Value& input : node.inputs) {
    if (input.node != nullptr && ConstantOf(input) != nullptr) continue;
    if (input.node == nullptr || data != nullptr) return nullptr;
    data = &input;
  }
  return data;
}

// The part of a reshape's operand that becomes `part` of its result. The axis
// has to be the first of those that one dimension is split into.
std::optional<Part> BeforeReshape(const Node& reshape, const Part& part) {
  const Shape& from = reshape.inputs[0].type().shape;
  const Shape& to = reshape.outputs[0].shape;
  int64_t all = 1, inner = 1;
  for (size_t end = part.axis; end < to.size(); ++end) {
    int64_t extent;
    if (!tir::AsConstInt(to[end], &extent)) return std::nullopt;
    all *= extent;
    if (end > static_cast<size_t>(part.axis)) inner *= extent;
    const size_t after = to.size() - end - 1;
    if (after >= from.size()) continue;
    const size_t axis = from.size() - after - 1;
    if (!tir::IsConstInt(from[axis], all) ||
        !SameShape(
            Shape(to.end() - static_cast<int64_t>(after), to.end()),
            Shape(from.end() - static_cast<int64_t>(after), from.end()))) {
      continue;
    }
    return Part{static_cast<int64_t>(axis), part.start * inner,
                part.end * inner};
  }
  return std::nullopt;
}

// The part of the operand that no constant is, from which `part` of the result
// is computed.
std::optional<Part> BeforeNode(const Node& node, const Part& part) {
  if (node.Is("transpose")) {
    return Part{node.attrs.Get<Ints>("axes")[part.axis], part.start, part.end};
  }
  if (node.Is("reshape")) {
    return node.inputs.size() == 1 ? BeforeReshape(node, part) : std::nullopt;
  }
  // Where the place of an element matters, as its channel does to a batch norm,
  // constants do not broadcast.
  const Value* const data = DataOf(node);
  if (data == nullptr || !node.op->IsPointwise() ||
      node.op->layout_rule != LayoutRule::kFollows ||
      node.op->FindAttr("axis") != nullptr ||
      !SameShape(data->type().shape, node.outputs[0].shape)) {
    return std::nullopt;
  }
  return part;
}

bool IsProjection(const Node& node) {
  return node.kind == NodeKind::kOp && node.inputs.size() == 2 &&
         (node.op->Has(kTimesMatrix) || node.op->Has(kTimesTranspose)) &&
         ConstantOf(node.inputs[1]) != nullptr &&
         ConstantOf(node.inputs[1])->shape().size() == 2;
}

// Whether only parts of the value along `axis` are read, which have no more
// elements together than it has.
bool IsTakenApart(const RuleContext& c, const Value& value, int64_t axis) {
  int64_t width = 0, uses = 0, extent;
  if (!tir::AsConstInt(value.type().shape[axis], &extent)) return false;
  for (const auto& node : c.function()->nodes()) {
    for (const Value& input : node->inputs) {
      if (!(input == value) || c.Uses(Value{node.get()}) == 0) continue;
      const std::optional<Part> part = PartOf(*node);
      if (!part.has_value() || part->axis != axis) return false;
      width += part->end - part->start;
      ++uses;
    }
  }
  return width <= extent && uses == c.Uses(value);
}

// A part of a constant that is broadcast to a value with that many dimensions.
absl::StatusOr<Value> PartOfConstant(RuleContext& c, const Value& constant,
                                     size_t rank, const Part& part) {
  const Shape& shape = constant.type().shape;
  const int64_t axis = part.axis - static_cast<int64_t>(rank - shape.size());
  if (axis < 0 || tir::IsConstInt(shape[axis], 1)) return constant;
  return c.Add("slice", {constant},
               {{"axes", Ints{axis}},
                {"starts", MakeShape({part.start})},
                {"ends", MakeShape({part.end})}});
}

// Makes the part of what `node` makes, of the part of its operand.
absl::StatusOr<Value> Remake(RuleContext& c, const Node& node,
                             const Value& before, const Part& part) {
  Attrs attrs = node.attrs;
  if (node.Is("reshape")) {
    Shape shape = node.outputs[0].shape;
    shape[part.axis] = tir::MakeInt(part.end - part.start);
    attrs.Set("shape", std::move(shape));
  }
  std::vector<Value> inputs;
  for (const Value& input : node.inputs) {
    INGOT_ASSIGN_OR_RETURN(
        const Value made,
        ConstantOf(input) == nullptr
            ? absl::StatusOr<Value>(before)
            : PartOfConstant(c, input, node.outputs[0].shape.size(), part));
    inputs.push_back(made);
  }
  INGOT_ASSIGN_OR_RETURN(const Value made,
                         c.Add(node.op->name, std::move(inputs), attrs));
  made.node->sources.Add(node.sources);
  return made;
}

// The product by the columns of its matrix from which the part comes.
absl::StatusOr<Value> PartOfProduct(RuleContext& c, const Node& product,
                                    const Part& part) {
  const int64_t columns = product.op->Has(kTimesTranspose) ? 0 : 1;
  INGOT_ASSIGN_OR_RETURN(const Value matrix,
                         c.Add("slice", {product.inputs[1]},
                               {{"axes", Ints{columns}},
                                {"starts", MakeShape({part.start})},
                                {"ends", MakeShape({part.end})}}));
  INGOT_ASSIGN_OR_RETURN(
      const Value made,
      c.Add(product.op->name, {product.inputs[0], matrix}, product.attrs));
  made.node->sources.Add(product.sources);
  return made;
}

// slice(transpose(reshape(add(matmul(x, w), b)))) reads a part of w and b. It
// pays where all of the product would have been turned first: a copy.
absl::StatusOr<Value> PartOfProjection(RuleContext& c, const Node& node) {
  std::optional<Part> part = PartOf(node);
  if (!part.has_value()) return Value{};
  const int64_t axis = part->axis;
  std::vector<std::pair<const Node*, Part>> path;
  const Node* at = node.inputs[0].node;
  bool is_turned = false;
  while (!IsProjection(*at)) {
    if (at->kind != NodeKind::kOp || at->outputs.size() != 1 ||
        at->attrs.Has("target") || at->inputs.empty()) {
      return Value{};
    }
    const std::optional<Part> before = BeforeNode(*at, *part);
    if (!before.has_value()) return Value{};
    const Value* const data = DataOf(*at);
    if (data == nullptr || !c.SingleUse(*data)) return Value{};
    is_turned = is_turned || at->Is("transpose");
    path.emplace_back(at, *part);
    part = before;
    at = data->node;
  }
  const int64_t last = static_cast<int64_t>(at->outputs[0].shape.size()) - 1;
  if (!is_turned || part->axis != last || at->attrs.Has("target") ||
      !IsTakenApart(c, node.inputs[0], axis)) {
    return Value{};
  }
  INGOT_ASSIGN_OR_RETURN(Value made, PartOfProduct(c, *at, *part));
  for (; !path.empty(); path.pop_back()) {
    INGOT_ASSIGN_OR_RETURN(
        made, Remake(c, *path.back().first, made, path.back().second));
  }
  return made;
}

constexpr Rule kRules[] = {
    {"part of a projection", "slice", 1, PartOfProjection},
};

}  // namespace

absl::Span<const Rule> ProjectionRules() { return kRules; }

}  // namespace ingot::relay
