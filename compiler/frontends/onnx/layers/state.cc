// Layers that pass a state on from call to call: causal convolution and linear
// attention.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/window.h"

namespace ingot::onnx_frontend {
namespace {

// x of com.microsoft's attribute channels_last, to or from what ONNX has.
Value SwapChannels(Compose& k, Value x) {
  if (!k.ok() || k.context().Int("channels_last", 0) == 0 || RankOf(x) != 3) {
    return x;
  }
  return k.Transpose(x, {0, 2, 1});
}

// x[b, channels, length] after the last elements of the call before, or after
// zeros.
Value WithPast(Compose& k, Value x, int64_t past) {
  NodeContext& c = k.context();
  if (c.has_input(3)) {
    Value state = SwapChannels(k, k.Input(3));
    if (!k.ok()) return Value{};
    state = k.Take(
        c.FixShape(state, {ShapeOf(x)[0], ShapeOf(x)[1], tir::MakeInt(past)}));
    return k.Concat({state, x}, 2);
  }
  Attrs attrs;
  attrs.Set("pads", std::vector<int64_t>{0, 0, past, 0, 0, 0});
  return k.Call("pad", {x}, std::move(attrs));
}

// Each channel with a kernel of its own, whose elements are `dilation` apart.
absl::StatusOr<Value> ConvolveChannels(Compose& k, Value x, Value w,
                                       int64_t dilation) {
  NodeContext& c = k.context();
  WindowAttrs window;
  int64_t channels, extent;
  if (!tir::AsConstInt(ShapeOf(w)[0], &channels) ||
      !tir::AsConstInt(ShapeOf(w)[2], &extent)) {
    return c.NotSupported("the extents of the kernel ",
                          relay::ToString(w.type()), " are not known");
  }
  window.kernel = {extent};
  window.strides = {1};
  window.dilations = {dilation};
  window.pads = {0, 0};
  window.AddHeight();
  Attrs attrs = window.ToAttrs();
  attrs.Set("groups", channels);
  INGOT_ASSIGN_OR_RETURN(x, AddHeight(c, x));
  INGOT_ASSIGN_OR_RETURN(w, AddHeight(c, w));
  INGOT_ASSIGN_OR_RETURN(Value y,
                         c.Emit("conv2d", {x, w}, std::move(attrs), "conv"));
  if (c.has_input(2)) {
    INGOT_ASSIGN_OR_RETURN(const Value bias, c.Input(2));
    if (RankOf(bias) != 1) {
      return c.Error("the bias ", relay::ToString(bias.type()),
                     " should be a vector");
    }
    INGOT_ASSIGN_OR_RETURN(y, AddChannelBias(c, y, bias));
  }
  return DropHeight(c, y);
}

// Operands x, kernel, bias, state; results y, state.
absl::Status CausalConvWithState(NodeContext& c) {
  Compose k(c);
  Value x = SwapChannels(k, k.Input(0)), w = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  int64_t extent;
  if (RankOf(x) != 3 || RankOf(w) != 3) {
    return c.Error("operands ", relay::ToString(x.type()), " and ",
                   relay::ToString(w.type()), " must have rank 3");
  }
  if (!tir::AsConstInt(ShapeOf(w)[2], &extent) || extent < 1) {
    return c.NotSupported("the extents of the kernel ",
                          relay::ToString(w.type()), " are not known");
  }
  const std::string activation = c.String("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return c.Error("there is no activation '", activation, "'");
  }
  const int64_t dilation = c.Int("dilation", 1);
  if (dilation < 1 || dilation > std::numeric_limits<int32_t>::max()) {
    return c.Error("dilation ", dilation);
  }
  const int64_t past = (extent - 1) * dilation;
  // As many channels as whichever of the two says it by a number.
  int64_t channels;
  if (tir::AsConstInt(ShapeOf(x)[1], &channels)) {
    w = k.Take(
        c.FixShape(w, {I(channels), ShapeOf(w)[1], ShapeOf(w)[2]}, "kernel"));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  x = k.Take(
      c.FixShape(x, {ShapeOf(x)[0], ShapeOf(w)[0], ShapeOf(x)[2]}, "channels"));
  INGOT_RETURN_IF_ERROR(k.status());
  const tir::Expr length = ShapeOf(x)[2];
  x = WithPast(k, x, past);
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.wants_output(1)) {
    c.SetOutput(
        1, SwapChannels(k, k.Slice(x, 2, length, SimplifyDim(length + past))));
  }
  INGOT_ASSIGN_OR_RETURN(Value y, ConvolveChannels(k, x, w, dilation));
  if (activation != "none") y = k.Call("swish", {y});
  c.SetOutput(0, SwapChannels(k, y));
  return k.status();
}

// The type in which steps are computed: states of 16 bits would lose too much.
DataType StepType(DataType dtype) {
  return dtype.bits == 16 ? DataType::Float(32) : dtype;
}

// The state before the first step, as `dtype`: operand 3, or zeros.
Value FirstState(Compose& k, const Shape& shape, DataType dtype) {
  NodeContext& c = k.context();
  if (c.has_input(3)) return k.Cast(k.Input(3), dtype);
  return k.Full(dtype, shape, 0);
}

// Decays or betas of which only a run knows how many there are for a step: one
// a head, which it checks.
Value OfHeads(Compose& k, Value v, int64_t heads) {
  int64_t known;
  if (!k.ok() || RankOf(v) != 3 || tir::AsConstInt(ShapeOf(v)[2], &known)) {
    return v;
  }
  return k.Take(k.context().FixShape(
      v, {ShapeOf(v)[0], ShapeOf(v)[1], I(heads)}, "heads"));
}

// Says which further operands the attribute update_rule asks for.
struct Rule {
  bool gated = false, delta = false;
};

absl::StatusOr<Rule> ReadRule(NodeContext& c) {
  const std::string name = c.String("update_rule", "gated_delta");
  Rule rule{name == "gated" || name == "gated_delta",
            name == "delta" || name == "gated_delta"};
  if (!rule.gated && !rule.delta && name != "linear") {
    return c.Error("there is no update_rule '", name, "'");
  }
  if ((rule.gated && !c.has_input(4)) || (rule.delta && !c.has_input(5))) {
    return c.Error("update_rule '", name, "' needs ",
                   rule.gated && !c.has_input(4) ? "a decay" : "a beta");
  }
  return rule;
}

// x[b, steps, heads * size] of as many heads as they are wide, each in a row as
// often as makes `heads` of them.
Value RepeatHeads(Compose& k, Value x, int64_t size, int64_t heads) {
  int64_t width;
  if (!k.ok() || !tir::AsConstInt(ShapeOf(x)[2], &width) || width < size ||
      width % size != 0 || heads % (width / size) != 0) {
    return x;
  }
  const int64_t from = width / size;
  if (from >= heads) return x;
  const Shape in = ShapeOf(x);
  x = k.Reshape(x, {in[0], in[1], I(from), I(1), I(size)});
  x = k.Expand(x, {in[0], in[1], I(from), I(heads / from), I(size)});
  return k.Reshape(x, {in[0], in[1], I(heads * size)});
}

// Operands queries, keys, values, state, decays, betas; results y, state.
// `few_queries`: several heads of values may share one of queries or keys, too.
absl::Status LinearAttention(NodeContext& c, bool few_queries) {
  Compose k(c);
  Value q = k.Input(0), key = k.Input(1);
  const Value value = k.Input(2);
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(const Rule rule, ReadRule(c));
  int64_t q_heads = c.Int("q_num_heads", 0);
  const int64_t heads = c.Int("kv_num_heads", 0);
  int64_t q_width, v_width;
  if (RankOf(q) != 3 || RankOf(key) != 3 || RankOf(value) != 3 || q_heads < 1 ||
      heads < 1 || !tir::AsConstInt(ShapeOf(q)[2], &q_width) ||
      !tir::AsConstInt(ShapeOf(value)[2], &v_width) || q_width % q_heads != 0 ||
      v_width % heads != 0) {
    return c.Error("operands ", relay::ToString(q.type()), " and ",
                   relay::ToString(value.type()), " of ", q_heads, " and ",
                   heads, " heads");
  }
  const int64_t size = q_width / q_heads;
  if (few_queries && size > 0) {
    q = RepeatHeads(k, q, size, heads);
    key = RepeatHeads(k, key, size, heads);
    INGOT_RETURN_IF_ERROR(k.status());
    if (q_heads < heads && heads % q_heads == 0) q_heads = heads;
  }
  const DataType dtype = StepType(q.type().dtype);
  std::vector<Value> operands = {
      k.Cast(q, dtype), k.Cast(key, dtype), k.Cast(value, dtype),
      FirstState(k,
                 {ShapeOf(q)[0], tir::MakeInt(heads), tir::MakeInt(size),
                  tir::MakeInt(v_width / heads)},
                 dtype)};
  for (const auto& [input, asked] :
       {std::pair(4, rule.gated), {5, rule.delta}}) {
    operands.push_back(asked ? OfHeads(k, k.Cast(k.Input(input), dtype), heads)
                             : Value());
  }
  Attrs attrs;
  attrs.Set("query_heads", q_heads);
  attrs.Set("heads", heads);
  const double scale = c.Float("scale", 0);
  attrs.Set("scale",
            scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(size)));
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      c.EmitNode("linear_attention", std::move(operands), std::move(attrs)));
  const DataType state_type =
      c.has_input(3) ? c.binding(3)->value.type().dtype : q.type().dtype;
  c.SetOutput(0, k.Cast(Value{node, 0}, q.type().dtype));
  c.SetOutput(1, k.Cast(Value{node, 1}, state_type));
  return k.status();
}

// com.microsoft's, whose states may be those after several steps.
Converter OneState(Converter convert) {
  return [convert](NodeContext& c) -> absl::Status {
    if (c.Int("state_window", 0) != 0) return c.NotSupported("state_window");
    return convert(c);
  };
}

// scale * softplus(a + bias), and sigmoid(b), in f32.
absl::Status LinearAttentionGate(NodeContext& c) {
  Compose k(c);
  const DataType f32 = DataType::Float(32);
  const Value a = k.Input(0), bias = k.Input(1), scale = k.Input(2);
  const Value y =
      k.Mul(k.Call("softplus", {k.Add(k.Cast(a, f32), bias)}), scale);
  INGOT_RETURN_IF_ERROR(k.status());
  c.SetOutput(0, k.Cast(y, a.type().dtype));
  if (c.wants_output(1)) {
    const Value beta = k.Call("sigmoid", {k.Cast(k.Input(3), f32)});
    c.SetOutput(1, k.Cast(beta, a.type().dtype));
  }
  return k.status();
}

}  // namespace

void AddStateConverters(ConverterTable* t) {
  t->Add("CausalConvWithState", 27, &CausalConvWithState);
  const auto linear_attention = [](bool few_queries) {
    return [few_queries](NodeContext& c) {
      return LinearAttention(c, few_queries);
    };
  };
  t->Add("LinearAttention", 27, linear_attention(/*few_queries=*/false));
  t->ChangesIn("LinearAttention", 29);
  t->Add("CausalConvWithState", 1, OneState(&CausalConvWithState),
         kMicrosoftDomain);
  t->Add("LinearAttention", 1, OneState(linear_attention(/*few_queries=*/true)),
         kMicrosoftDomain);
  t->Add("LinearAttentionGate", 1, &LinearAttentionGate, kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend
