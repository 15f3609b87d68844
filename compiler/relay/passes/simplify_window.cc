// Rules on convolutions, pools and what pads them.
#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"
#include "compiler/tir/arith/interval.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

bool IsPool(const Node& node, absl::string_view stem) {
  return node.kind == NodeKind::kOp &&
         node.op->name.size() == stem.size() + 2 &&
         absl::StartsWith(node.op->name, stem);
}

// Whether every value of a window's attribute is that one.
bool All(const Node& window, absl::string_view name, int64_t value) {
  // One is as good as many: the default repeats.
  for (int64_t v : window.attrs.GetEach(name, 1)) {
    if (v != value) return false;
  }
  return true;
}

// Whether a convolution, which pads nothing yet, may pad with any byte.
bool PadsWithAnyByte(const Node& conv) {
  return IsByteProduct(conv) && All(conv, "pads", 0);
}

// Whether a pad puts around the data the same values as the window's own
// padding.
bool PadsAlike(const Node& pad, const Node& window) {
  const double value = pad.attrs.Get<double>("value");
  if (IsConv(window)) {
    return value == window.attrs.Get<int64_t>("pad_value") ||
           (PadsWithAnyByte(window) && value >= 0 && value <= 255);
  }
  if (window.attrs.Get<int64_t>("ceil_mode") != 0) return false;
  if (IsPool(window, "avg_pool")) {
    const bool padded = !All(window, "pads", 0);
    return value == 0 &&
           (!padded || window.attrs.Get<int64_t>("count_include_pad") != 0);
  }
  // A window must not lie in the padding alone, which is not what it is made to
  // be then.
  const Shape& x = pad.inputs[0].type().shape;
  const tir::Bounds bounds = tir::Bounds::Dimensions();
  for (size_t d = 2; d < x.size(); ++d) {
    if (tir::ConstLowerBound(x[d], &bounds).value_or(0) < 1) return false;
  }
  if (!All(window, "dilations", 1)) return false;
  // The result of a relu is never below 0.
  return value <= std::numeric_limits<float>::lowest() ||
         (value == 0 && pad.inputs[0].node->Is("relu"));
}

// A pad that a window reads, directly or by way of NCW data seen as NCHW.
struct PadRead {
  const Node* pad = nullptr;
  Ints pads;  // in the window's rank
  bool has_unit_height = false;
};

PadRead FindPad(const Value& value) {
  PadRead found;
  const Node* node = value.node;
  const Shape& shape = value.type().shape;
  if (node->Is("reshape") && shape.size() == 4 &&
      tir::IsConstInt(shape[2], 1)) {
    const Shape& from = node->inputs[0].type().shape;
    if (!SameShape(from, {shape[0], shape[1], shape[3]})) return found;
    node = node->inputs[0].node;
    found.has_unit_height = true;
  }
  if (!node->Is("pad") || node->attrs.Get<std::string>("mode") != "constant") {
    return found;
  }
  found.pad = node;
  found.pads = node->attrs.Get<Ints>("pads");
  if (found.has_unit_height) {
    found.pads.insert(found.pads.begin() + 5, 0);
    found.pads.insert(found.pads.begin() + 2, 0);
  }
  return found;
}

// pad, then conv or pool -> one that pads itself.
absl::StatusOr<Value> PadIntoWindow(RuleContext& c, const Node& node) {
  const bool pool = !IsConv(node);
  const PadRead read = FindPad(node.inputs[0]);
  if (read.pad == nullptr || !PadsAlike(*read.pad, node)) return Value{};
  const size_t rank = node.inputs[0].type().shape.size();
  const size_t n = rank - 2;
  const char* const layout = pool ? "layout" : "data_layout";
  if (!IsPlainLayout(node.attrs.Get<std::string>(layout))) return Value{};
  Ints pads = node.attrs.GetEach("pads", 2 * n);
  const Ints kernel = pool ? node.attrs.Get<Ints>("kernel") : Ints();
  const Ints dilations = node.attrs.GetEach("dilations", n);
  for (size_t d = 0; d < rank; ++d) {
    for (int end = 0; end < 2; ++end) {
      const int64_t more = read.pads[d + end * rank];
      if (more < 0 || (d < 2 && more != 0)) return Value{};
      if (d < 2) continue;
      int64_t& sum = pads[d - 2 + end * n];
      sum += more;
      // A pool takes less padding than its window.
      if (pool && sum >= (kernel[d - 2] - 1) * dilations[d - 2] + 1) {
        return Value{};
      }
    }
  }
  Attrs attrs = node.attrs;
  attrs.Set("pads", pads);
  if (IsPool(node, "avg_pool")) attrs.Set("count_include_pad", int64_t{1});
  if (!pool && PadsWithAnyByte(node)) {
    attrs.Set("pad_value",
              static_cast<int64_t>(read.pad->attrs.Get<double>("value")));
  }
  std::vector<Value> inputs = node.inputs;
  inputs[0] = read.pad->inputs[0];
  if (read.has_unit_height) {
    const Shape& x = inputs[0].type().shape;
    INGOT_ASSIGN_OR_RETURN(
        inputs[0],
        c.Add("reshape", {inputs[0]},
              {{"shape", Shape{x[0], x[1], tir::MakeInt(1), x[2]}}}));
  }
  return c.Add(node.op->name, inputs, attrs);
}

// The mean or maximum over the whole plane, however it is said.
absl::StatusOr<Value> MeanOfPlane(RuleContext& c, const Node& node) {
  const Value x = node.inputs[0];
  if (x.type().shape.size() != 4 || !x.type().dtype.is_float()) return Value{};
  const bool max = node.Is("reduce_max");
  if (!node.attrs.Has("axes")) return Value{};
  Ints axes = node.attrs.Get<Ints>("axes");
  for (int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  if (axes != Ints{2, 3} && axes != Ints{3, 2}) return Value{};
  INGOT_ASSIGN_OR_RETURN(
      Value pooled,
      c.Add(max ? "global_max_pool2d" : "global_avg_pool2d", {x}));
  if (node.attrs.Get<int64_t>("keepdims") != 0) return pooled;
  return c.Add("reshape", {pooled}, {{"shape", node.outputs[0].shape}});
}

absl::StatusOr<Value> PoolOfPlane(RuleContext& c, const Node& node) {
  const bool max = node.Is("max_pool2d");
  const auto shape = ConstShape(node.inputs[0].type().shape);
  if (!shape || shape->size() != 4 ||
      node.attrs.Get<std::string>("layout") != "NCHW") {
    return Value{};
  }
  if (!All(node, "pads", 0) || !All(node, "dilations", 1)) return Value{};
  const Ints& kernel = node.attrs.Get<Ints>("kernel");
  if (kernel != Ints{(*shape)[2], (*shape)[3]}) return Value{};
  return c.Add(max ? "global_max_pool2d" : "global_avg_pool2d",
               {node.inputs[0]});
}

// A window of one element and a stride of one give the operand itself.
absl::StatusOr<Value> PoolOfOne(RuleContext&, const Node& node) {
  for (int64_t extent : node.attrs.Get<Ints>("kernel")) {
    if (extent != 1) return Value{};
  }
  if (!All(node, "strides", 1) || !All(node, "pads", 0)) return Value{};
  return node.inputs[0];
}

// The elements of a kernel, along one dimension, that lie on the data anywhere.
struct TapRange {
  int64_t first, end;
};

std::optional<TapRange> TapsOnData(int64_t data, int64_t results, int64_t taps,
                                   int64_t stride, int64_t dilation,
                                   int64_t pad) {
  TapRange range = {taps, 0};
  for (int64_t k = 0; k < taps; ++k) {
    // The first result that reads at or after the data's beginning.
    const int64_t at = k * dilation - pad;
    const int64_t skipped = at < 0 ? tir::CeilDivInt(-at, stride) : 0;
    if (skipped >= results || at + skipped * stride >= data) continue;
    range.first = std::min(range.first, k);
    range.end = k + 1;
  }
  if (range.first >= range.end) return std::nullopt;
  return range;
}

// Outer elements of a kernel that nowhere lie on the data go: large dilations
// on small images leave of a kernel of 3x3 a single point.
absl::StatusOr<Value> WithoutTapsOfPadding(RuleContext& c, const Node& node) {
  const Tensor* const w = ConstantOf(node.inputs[1]);
  const auto x = ConstShape(node.inputs[0].type().shape);
  const auto y = ConstShape(node.outputs[0].shape);
  const size_t n = node.outputs[0].shape.size() - 2;
  if (w == nullptr || !x || !y || All(node, "pads", 0) ||
      !IsPlainLayout(node.attrs.Get<std::string>("data_layout")) ||
      node.attrs.Get<int64_t>("pad_value") != 0 || w->shape().size() != n + 2 ||
      x->size() != n + 2 || (w->dtype().is_float() && !AllFinite(*w))) {
    return Value{};
  }
  const Ints strides = node.attrs.GetEach("strides", n);
  const Ints dilations = node.attrs.GetEach("dilations", n);
  Ints pads = node.attrs.GetEach("pads", 2 * n);
  Ints axes;
  Shape starts, ends;
  for (size_t d = 0; d < n; ++d) {
    const int64_t taps = w->shape()[2 + d];
    const auto range = TapsOnData((*x)[2 + d], (*y)[2 + d], taps, strides[d],
                                  dilations[d], pads[d]);
    if (!range || (range->first == 0 && range->end == taps)) continue;
    const int64_t before = pads[d] - range->first * dilations[d];
    const int64_t after = pads[n + d] - (taps - range->end) * dilations[d];
    if (before < 0 || after < 0) continue;
    pads[d] = before;
    pads[n + d] = after;
    axes.push_back(static_cast<int64_t>(2 + d));
    starts.push_back(tir::MakeInt(range->first));
    ends.push_back(tir::MakeInt(range->end));
  }
  if (axes.empty()) return Value{};
  INGOT_ASSIGN_OR_RETURN(
      const Value taps,
      c.Add("slice", {node.inputs[1]},
            {{"starts", starts}, {"ends", ends}, {"axes", axes}}));
  Attrs attrs = node.attrs;
  attrs.Set("pads", pads);
  std::vector<Value> inputs = node.inputs;
  inputs[1] = taps;
  return c.Add(node.op->name, std::move(inputs), std::move(attrs));
}

constexpr Rule kRules[] = {
    {"conv1d without taps of padding", "conv1d", 2, WithoutTapsOfPadding},
    {"conv2d without taps of padding", "conv2d", 2, WithoutTapsOfPadding},
    {"conv3d without taps of padding", "conv3d", 2, WithoutTapsOfPadding},
    {"pad into a conv1d", "conv1d", 1, PadIntoWindow},
    {"pad into a conv2d", "conv2d", 1, PadIntoWindow},
    {"pad into a conv3d", "conv3d", 1, PadIntoWindow},
    {"pad into a max_pool1d", "max_pool1d", 1, PadIntoWindow},
    {"pad into a max_pool2d", "max_pool2d", 1, PadIntoWindow},
    {"pad into a max_pool3d", "max_pool3d", 1, PadIntoWindow},
    {"pad into an avg_pool1d", "avg_pool1d", 1, PadIntoWindow},
    {"pad into an avg_pool2d", "avg_pool2d", 1, PadIntoWindow},
    {"pad into an avg_pool3d", "avg_pool3d", 1, PadIntoWindow},
    {"maximum of planes", "reduce_max", 1, MeanOfPlane},
    {"mean of planes", "reduce_mean", 1, MeanOfPlane},
    {"maximum of whole planes", "max_pool2d", 1, PoolOfPlane},
    {"average of whole planes", "avg_pool2d", 1, PoolOfPlane},
    {"max_pool1d of single elements", "max_pool1d", 1, PoolOfOne},
    {"max_pool2d of single elements", "max_pool2d", 1, PoolOfOne},
    {"max_pool3d of single elements", "max_pool3d", 1, PoolOfOne},
    {"avg_pool1d of single elements", "avg_pool1d", 1, PoolOfOne},
    {"avg_pool2d of single elements", "avg_pool2d", 1, PoolOfOne},
    {"avg_pool3d of single elements", "avg_pool3d", 1, PoolOfOne},
};

}  // namespace

absl::Span<const Rule> WindowRules() { return kRules; }

}  // namespace ingot::relay
