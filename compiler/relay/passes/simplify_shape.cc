// Rules on operators that only move elements, or do not even do that.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// Whether the node could as well be a reshape. One that also says what a run
// has to check, or another type of elements, could not.
bool IsReshape(const Node& node) {
  return node.IsView() && !node.Is("fix_shape") &&
         node.outputs[0].dtype == node.inputs[0].type().dtype;
}

bool KeepsShape(const Node& node) {
  return SameShape(node.outputs[0].shape, node.inputs[0].type().shape);
}

// Every view is a reshape, of what is not a view itself.
absl::StatusOr<Value> View(RuleContext& c, const Node& node) {
  if (node.Is("fix_shape") && KeepsShape(node)) return node.inputs[0];
  if (!IsReshape(node)) return Value{};
  if (KeepsShape(node)) return node.inputs[0];
  // Operands after the first one give the symbols of the shape.
  std::vector<Value> inputs = node.inputs;
  const Node& inner = *inputs[0].node;
  const bool through = IsReshape(inner);
  if (through) {
    inputs[0] = inner.inputs[0];
    inputs.insert(inputs.end(), inner.inputs.begin() + 1, inner.inputs.end());
  }
  if (SameShape(node.outputs[0].shape, inputs[0].type().shape)) {
    return inputs[0];
  }
  if (!through && node.Is("reshape")) return Value{};
  return c.Add("reshape", inputs, {{"shape", node.outputs[0].shape}});
}

absl::StatusOr<Value> Transpose(RuleContext& c, const Node& node) {
  Ints axes = node.attrs.Get<Ints>("axes");
  Value x = node.inputs[0];
  const bool twice = x.node->Is("transpose");
  if (twice) {
    const Ints& inner = x.node->attrs.Get<Ints>("axes");
    for (int64_t& axis : axes) axis = inner[axis];
    x = x.node->inputs[0];
  }
  if (std::is_sorted(axes.begin(), axes.end())) return x;
  // No element moves when those dimensions that are not 1 keep their order.
  int64_t last = -1;
  bool view = true;
  for (int64_t axis : axes) {
    if (tir::IsConstInt(x.type().shape[axis], 1)) continue;
    view = view && axis > last;
    last = axis;
  }
  if (view) {
    return c.Add("reshape", {x}, {{"shape", node.outputs[0].shape}});
  }
  if (!twice) return Value{};
  return c.Add("transpose", {x}, {{"axes", axes}});
}

absl::StatusOr<Value> WholeSlice(RuleContext&, const Node& node) {
  if (!KeepsShape(node)) return Value{};
  const Ints& axes = node.attrs.Get<Ints>("axes");
  const Ints steps = node.attrs.GetEach("steps", axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    // Backwards keeps the shape too.
    if (steps[k] < 1) return Value{};
  }
  return node.inputs[0];
}

// A slice of a slice, steps of 1 and constant starts.
absl::StatusOr<Value> SliceOfSlice(RuleContext& c, const Node& node) {
  const Node& inner = *node.inputs[0].node;
  if (!inner.Is("slice") || !c.SingleUse(node.inputs[0])) return Value{};
  Ints axes;
  Shape starts, ends;
  for (const Node* slice : {&inner, &node}) {
    const Ints& own = slice->attrs.Get<Ints>("axes");
    const Ints steps = slice->attrs.GetEach("steps", own.size());
    for (size_t k = 0; k < own.size(); ++k) {
      if (steps[k] != 1) return Value{};
      const Dim& start = slice->attrs.Get<Shape>("starts")[k];
      const Dim& end = slice->attrs.Get<Shape>("ends")[k];
      auto at = std::find(axes.begin(), axes.end(), own[k]);
      const size_t place = at - axes.begin();
      if (at == axes.end()) {
        axes.push_back(own[k]);
        starts.push_back(start);
        ends.push_back(end);
      } else {
        ends[place] = starts[place] + end;
        starts[place] = starts[place] + start;
      }
    }
  }
  std::vector<Value> inputs = inner.inputs;
  inputs.insert(inputs.end(), node.inputs.begin() + 1, node.inputs.end());
  return c.Add("slice", inputs,
               {{"axes", axes}, {"starts", starts}, {"ends", ends}});
}

int64_t ConcatAxis(const Node& concat) {
  const int64_t axis = concat.attrs.Get<int64_t>("axis");
  return axis < 0 ? axis + concat.outputs[0].shape.size() : axis;
}

// A slice that reads one of a concat's parts alone is one of that part.
absl::StatusOr<Value> SliceOfConcat(RuleContext& c, const Node& node) {
  const Node& concat = *node.inputs[0].node;
  if (!concat.Is("concat") || node.inputs.size() != 1) return Value{};
  const int64_t axis = ConcatAxis(concat);
  const Ints& axes = node.attrs.Get<Ints>("axes");
  const size_t place = std::find(axes.begin(), axes.end(), axis) - axes.begin();
  if (place == axes.size()) return Value{};
  Shape starts = node.attrs.Get<Shape>("starts");
  Shape ends = node.attrs.Get<Shape>("ends");
  int64_t start, end, extent;
  if (node.attrs.GetEach("steps", axes.size())[place] < 1 ||
      !tir::AsConstInt(starts[place], &start) ||
      !tir::AsConstInt(ends[place], &end)) {
    return Value{};
  }
  for (const Value& part : concat.inputs) {
    if (!tir::AsConstInt(part.type().shape[axis], &extent)) return Value{};
    if (start < extent) {
      if (end > extent) return Value{};
      Attrs attrs = node.attrs;
      starts[place] = tir::MakeInt(start);
      ends[place] = tir::MakeInt(end);
      attrs.Set("starts", starts);
      attrs.Set("ends", ends);
      return c.Add("slice", {part}, std::move(attrs));
    }
    start -= extent;
    end -= extent;
  }
  return Value{};
}

absl::StatusOr<Value> Concat(RuleContext& c, const Node& node) {
  if (node.inputs.size() == 1) return node.inputs[0];
  const int64_t axis = ConcatAxis(node);
  std::vector<Value> parts;
  bool changed = false;
  for (const Value& input : node.inputs) {
    const Node& inner = *input.node;
    if (tir::IsConstInt(input.type().shape[axis], 0)) {
      changed = true;  // nothing of it is in the result
    } else if (inner.Is("concat") && ConcatAxis(inner) == axis &&
               c.SingleUse(input)) {
      changed = true;
      parts.insert(parts.end(), inner.inputs.begin(), inner.inputs.end());
    } else {
      parts.push_back(input);
    }
  }
  if (!changed || parts.empty()) return Value{};
  if (parts.size() == 1) return parts[0];
  return c.Add("concat", parts, {{"axis", axis}});
}

// expand, tile and pad that add nothing.
absl::StatusOr<Value> SameSize(RuleContext&, const Node& node) {
  if (node.inputs[0].type().dtype != node.outputs[0].dtype ||
      !KeepsShape(node)) {
    return Value{};
  }
  if (node.Is("pad")) {
    // Elements cut off at one end may come back at the other.
    for (int64_t pad : node.attrs.Get<Ints>("pads")) {
      if (pad != 0) return Value{};
    }
  }
  return node.inputs[0];
}

// layout_transform there and back. A way there by whole blocks only, since what
// fills up a last block comes back as channels.
absl::StatusOr<Value> LayoutThereAndBack(RuleContext&, const Node& node) {
  const Node& inner = *node.inputs[0].node;
  if (!inner.Is("layout_transform") ||
      inner.attrs.Get<std::string>("src") !=
          node.attrs.Get<std::string>("dst") ||
      inner.attrs.Get<std::string>("dst") !=
          node.attrs.Get<std::string>("src") ||
      !SameShape(inner.inputs[0].type().shape, node.outputs[0].shape)) {
    return Value{};
  }
  return inner.inputs[0];
}

// Adding to an expanded operand expands it anyway.
absl::StatusOr<Value> ExpandBeforeBroadcast(RuleContext& c, const Node& node) {
  // A vector along an axis, as of scales, does not broadcast.
  if (node.op->fusion != FusionKind::kBroadcast || node.Is("expand") ||
      node.inputs.size() != 2 || node.op->FindAttr("axis") != nullptr) {
    return Value{};
  }
  for (int i = 0; i < 2; ++i) {
    const Node* expand = node.inputs[i].node;
    if (!expand->Is("expand")) continue;
    // The other operand must have the result's whole shape by itself.
    if (!SameShape(node.inputs[1 - i].type().shape, node.outputs[0].shape)) {
      continue;
    }
    std::vector<Value> inputs = node.inputs;
    inputs[i] = expand->inputs[0];
    return c.Add(node.op->name, inputs, node.attrs);
  }
  return Value{};
}

// transpose(x) * c -> transpose(x * c'): nearer to a product that takes it in.
absl::StatusOr<Value> ConstantBeforeTranspose(RuleContext& c,
                                              const Node& node) {
  const Value x = node.inputs[0];
  const Tensor* constant = ConstantOf(node.inputs[1]);
  if (!x.node->Is("transpose") || !c.SingleUse(x) || constant == nullptr ||
      !SameShape(node.outputs[0].shape, x.type().shape)) {
    return Value{};
  }
  const Ints& axes = x.node->attrs.Get<Ints>("axes");
  Value moved = node.inputs[1];
  if (constant->NumElements() != 1) {
    Ints shape(axes.size() - constant->shape().size(), 1);
    shape.insert(shape.end(), constant->shape().begin(),
                 constant->shape().end());
    Ints back(axes.size());
    for (size_t d = 0; d < axes.size(); ++d) back[axes[d]] = d;
    INGOT_ASSIGN_OR_RETURN(
        moved, c.Add("reshape", {moved}, {{"shape", MakeShape(shape)}}));
    INGOT_ASSIGN_OR_RETURN(moved,
                           c.Add("transpose", {moved}, {{"axes", back}}));
  }
  INGOT_ASSIGN_OR_RETURN(Value result,
                         c.Add(node.op->name, {x.node->inputs[0], moved}));
  return c.Add("transpose", {result}, {{"axes", axes}});
}

// Which dimensions `squeezed` lacks of `shape`, all of them 1; nothing where it
// differs in anything else.
std::optional<std::vector<bool>> Dropped(const Shape& shape,
                                         const Shape& squeezed) {
  std::vector<bool> dropped(shape.size());
  size_t next = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool is_kept =
        next < squeezed.size() && SameShape({shape[d]}, {squeezed[next]});
    if (!is_kept && !tir::IsConstInt(shape[d], 1)) return std::nullopt;
    dropped[d] = !is_kept;
    next += is_kept;
  }
  if (next != squeezed.size()) return std::nullopt;
  return dropped;
}

// reshape(transpose(x)) that drops dimensions of 1 -> transpose(reshape(x)):
// nearer to a product that takes it in.
absl::StatusOr<Value> SqueezeBeforeTranspose(RuleContext& c, const Node& node) {
  const Value x = node.inputs[0];
  if (!IsReshape(node) || node.inputs.size() != 1 || !x.node->Is("transpose") ||
      !c.SingleUse(x) ||
      node.outputs[0].shape.size() >= x.type().shape.size()) {
    return Value{};
  }
  const auto dropped = Dropped(x.type().shape, node.outputs[0].shape);
  if (!dropped.has_value()) return Value{};
  const Ints& axes = x.node->attrs.Get<Ints>("axes");
  const Shape& before = x.node->inputs[0].type().shape;
  // The places of what is kept of the operand.
  Ints places(axes.size(), -1);
  for (size_t d = 0; d < axes.size(); ++d) {
    if (!(*dropped)[d]) places[axes[d]] = 0;
  }
  Shape kept;
  for (size_t d = 0; d < places.size(); ++d) {
    if (places[d] < 0) continue;
    places[d] = static_cast<int64_t>(kept.size());
    kept.push_back(before[d]);
  }
  Ints order;
  for (size_t d = 0; d < axes.size(); ++d) {
    if (!(*dropped)[d]) order.push_back(places[axes[d]]);
  }
  INGOT_ASSIGN_OR_RETURN(
      const Value squeezed,
      c.Add("reshape", {x.node->inputs[0]}, {{"shape", kept}}));
  INGOT_ASSIGN_OR_RETURN(const Value turned,
                         c.Add("transpose", {squeezed}, {{"axes", order}}));
  turned.node->sources.Add(x.node->sources);
  return turned;
}

// The runs of neighbours in `shape` that are each one dimension of `joined`, as
// the places where they begin; nothing where it has other elements there.
std::optional<std::vector<size_t>> JoinedRuns(const Shape& shape,
                                              const Shape& joined) {
  std::vector<size_t> begins;
  size_t d = 0;
  for (const Dim& whole : joined) {
    begins.push_back(d);
    Dim product = tir::MakeInt(1);
    do {
      if (d == shape.size()) return std::nullopt;
      product = SimplifyDim(product * shape[d++]);
    } while (!SameShape({product}, {whole}));
  }
  if (d != shape.size()) return std::nullopt;
  return begins;
}

// transpose(reshape(transpose(x))) that joins dimensions which are neighbours
// in x, too, as a plane of channels that come last -> transpose(reshape(x)).
absl::StatusOr<Value> TransposeOfJoined(RuleContext& c, const Node& node) {
  const Value joined = node.inputs[0];
  if (!IsReshape(*joined.node) || joined.node->inputs.size() != 1 ||
      !c.SingleUse(joined)) {
    return Value{};
  }
  const Value x = joined.node->inputs[0];
  if (!x.node->Is("transpose") || !c.SingleUse(x)) return Value{};
  const auto begins = JoinedRuns(x.type().shape, joined.type().shape);
  if (!begins.has_value()) return Value{};
  const Ints& axes = x.node->attrs.Get<Ints>("axes");
  const size_t runs = begins->size();
  Ints firsts;  // of each run, the dimension of what is transposed
  for (size_t run = 0; run < runs; ++run) {
    const size_t begin = (*begins)[run];
    const size_t end = run + 1 < runs ? (*begins)[run + 1] : axes.size();
    for (size_t d = begin + 1; d < end; ++d) {
      if (axes[d] != axes[d - 1] + 1) return Value{};
    }
    firsts.push_back(axes[begin]);
  }
  Ints sorted = firsts;
  std::sort(sorted.begin(), sorted.end());
  Shape shape(runs);
  for (size_t run = 0; run < runs; ++run) {
    const auto place =
        std::lower_bound(sorted.begin(), sorted.end(), firsts[run]);
    firsts[run] = place - sorted.begin();
    shape[firsts[run]] = joined.type().shape[run];
  }
  INGOT_ASSIGN_OR_RETURN(
      const Value before,
      c.Add("reshape", {x.node->inputs[0]}, {{"shape", shape}}));
  Ints order = node.attrs.Get<Ints>("axes");
  for (int64_t& axis : order) axis = firsts[axis];
  return c.Add("transpose", {before}, {{"axes", order}});
}

constexpr Rule kRules[] = {
    {"views as one reshape", "", 1, View},
    {"transposes", "transpose", 1, Transpose},
    {"slice of everything", "slice", 1, WholeSlice},
    {"slice of a slice", "slice", 1, SliceOfSlice},
    {"slice of a concat", "slice", 1, SliceOfConcat},
    {"concat", "concat", 1, Concat},
    {"expand to the same shape", "expand", 1, SameSize},
    {"tile once", "tile", 1, SameSize},
    {"pad by nothing", "pad", 1, SameSize},
    {"layout there and back", "layout_transform", 1, LayoutThereAndBack},
    {"expand before a broadcast", "", 2, ExpandBeforeBroadcast},
    {"factor before a transpose", "mul", 2, ConstantBeforeTranspose},
    {"term before a transpose", "add", 2, ConstantBeforeTranspose},
    {"squeeze before a transpose", "", 1, SqueezeBeforeTranspose},
    {"transpose of joined dimensions", "transpose", 1, TransposeOfJoined},
};

}  // namespace

absl::Span<const Rule> ShapeRules() { return kRules; }

}  // namespace ingot::relay
