// com.microsoft's attention.
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/attention.h"
#include "compiler/frontends/onnx/layers/quantize.h"

namespace ingot::onnx_frontend {
namespace {

// The numbers of operands; -1: there is no such one.
struct Operands {
  int mask = -1;  // keeps keys out
  int bias = -1;  // is added to the scores
  int past = -1;  // keys and values of words before these
};

// Returns which of so many keys count: `mask` is 1 for them, [batch, keys] or
// [batch, queries, keys], says how many there are, [batch], or after that also
// how many of the first do not, [2 * batch].
Value CountingKeys(Compose& k, Value mask, const tir::Expr& batch,
                   const tir::Expr& keys) {
  NodeContext& c = k.context();
  if (!k.ok()) return Value{};
  if (RankOf(mask) == 1) {
    const tir::Expr twice = SimplifyDim(batch * 2);
    const bool has_starts = relay::SameShape(ShapeOf(mask), {twice});
    mask = k.Take(c.FixShape(mask, {has_starts ? twice : batch}, "lengths"));
    mask = k.Cast(mask, DataType::Int(64));
    const Value place = k.CountUp(keys);
    auto column = [&](Value v) {
      return k.Reshape(v, {batch, I(1), I(1), I(1)});
    };
    if (!has_starts) return k.Call("less", {place, column(mask)});
    return k.Call(
        "logical_and",
        {k.Call("less", {place, column(k.Slice(mask, 0, I(0), batch))}),
         k.Call("greater_equal",
                {place, column(k.Slice(mask, 0, batch, twice))})});
  }
  if (RankOf(mask) == 2) {
    const Shape& shape = ShapeOf(mask);
    return k.Cast(k.Reshape(mask, {shape[0], I(1), I(1), shape[1]}),
                  DataType::Bool());
  }
  if (RankOf(mask) == 3) {
    const Shape& shape = ShapeOf(mask);
    return k.Cast(k.Reshape(mask, {shape[0], I(1), shape[1], shape[2]}),
                  DataType::Bool());
  }
  k.Check(c.NotSupported("a mask ", relay::ToString(mask.type())));
  return Value{};
}

// A bias that keeps those keys out that do not count.
Value PaddingBias(Compose& k, Value counts, DataType dtype) {
  NodeContext& c = k.context();
  if (!k.ok()) return Value{};
  const double filter = c.Float("mask_filter_value", -10000);
  return k.Call("where", {counts, k.Take(c.Scalar(dtype, 0)),
                          k.Take(c.Scalar(dtype, filter))});
}

// Attention of com.microsoft's operators on queries, keys and values whose
// heads are apart: makes the node's output from them. `past` keys stand before
// those of the queries' own words.
absl::Status AttendHeads(Compose& k, Value q, Value key, Value value,
                         const tir::Expr& past, const Operands& operands) {
  NodeContext& c = k.context();
  const DataType dtype = q.type().dtype;
  Value bias;
  if (operands.bias >= 0 && c.has_input(operands.bias)) {
    bias = k.Input(operands.bias);
  }
  if (c.has_input(operands.mask)) {
    const Value padding = PaddingBias(
        k,
        CountingKeys(k, k.Input(operands.mask), ShapeOf(q)[0], ShapeOf(key)[2]),
        dtype);
    bias = bias ? k.Add(bias, padding) : padding;
  }
  AttentionOptions options;
  options.bias = bias;
  if (c.Int("unidirectional", 0) != 0) {
    options.right = 0;
    options.places = k.Number(past);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(options.scale, ScaleOf(c, q, key));
  c.SetOutput(0, JoinHeads(k, Attend(k, q, key, value, options)));
  return k.status();
}

// Attention of queries, keys and values that are side by side in `all`, whose
// past, if there is one, is stacked.
absl::Status AttendPacked(Compose& k, Value all, const Operands& operands) {
  NodeContext& c = k.context();
  const int64_t heads = c.Int("num_heads", 0);
  int64_t width;
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(all) != 3 || !tir::AsConstInt(ShapeOf(all)[2], &width)) {
    return c.Error("queries, keys and values are ",
                   relay::ToString(all.type()));
  }
  if (c.Int("do_rotary", 0) != 0) return c.NotSupported("do_rotary");
  std::vector<int64_t> sizes = c.Ints("qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, width / 3);
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] < 1 ||
      sizes[2] < 1 || sizes[0] > width || sizes[2] > width ||
      sizes[0] + sizes[1] + sizes[2] != width) {
    return c.Error("qkv_hidden_sizes do not add up to ", width);
  }
  auto part = [&](int64_t start, int64_t size) {
    return SplitHeads(k, k.Slice(all, 2, I(start), I(start + size)), heads);
  };
  const Value q = part(0, sizes[0]);
  Value key = part(sizes[0], sizes[1]);
  Value value = part(sizes[0] + sizes[1], sizes[2]);
  tir::Expr past = I(0);
  if (c.has_input(operands.past)) {
    // [2, batch, heads, length, size]
    const Value both = k.Input(operands.past);
    INGOT_RETURN_IF_ERROR(k.status());
    if (RankOf(both) != 5) return c.Error("a past of another rank");
    const Shape shape(ShapeOf(both).begin() + 1, ShapeOf(both).end());
    past = shape[2];
    key = k.Concat({k.Reshape(k.Slice(both, 0, I(0), I(1)), shape), key}, 2);
    value =
        k.Concat({k.Reshape(k.Slice(both, 0, I(1), I(2)), shape), value}, 2);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.wants_output(1)) {
    auto stacked = [&](Value v) {
      Shape shape = ShapeOf(v);
      shape.insert(shape.begin(), I(1));
      return k.Reshape(v, shape);
    };
    c.SetOutput(1, k.Concat({stacked(key), stacked(value)}, 0));
  }
  return AttendHeads(k, q, key, value, past, operands);
}

// Words, weights of queries, keys and values side by side, their biases, a
// padding mask, past keys and values, a bias of the scores.
absl::Status PackedAttention(NodeContext& c) {
  Compose k(c);
  const Value x = k.Input(0), w = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(x) != 3 || RankOf(w) != 2) {
    return c.Error("operands ", relay::ToString(x.type()), " and ",
                   relay::ToString(w.type()));
  }
  Value all = k.Call("matmul", {x, w});
  if (c.has_input(2)) all = k.Add(all, k.Input(2));
  Operands operands;
  operands.mask = 3;
  operands.past = 4;
  operands.bias = 5;
  return AttendPacked(k, all, operands);
}

// The same of integers: words, weights, their biases, the scales of words and
// weights, a padding mask, the zero points of words and weights, past keys and
// values.
absl::Status QuantizedAttention(NodeContext& c) {
  Compose k(c);
  const Value x = k.Input(0), w = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(x) != 3 || RankOf(w) != 2) {
    return c.Error("operands ", relay::ToString(x.type()), " and ",
                   relay::ToString(w.type()));
  }
  INGOT_ASSIGN_OR_RETURN(Value all, IntegerMatmul(c, x, w, 6, 7));
  all = k.Add(ScaledProduct(k, all, k.Input(3), k.Input(4)), k.Input(2));
  Operands operands;
  operands.mask = 5;
  operands.past = 8;
  return AttendPacked(k, all, operands);
}

// com.microsoft: query, key, value (each [b, s, h * d]), the bias of all three,
// a padding mask, a bias of the scores, past key and value.
absl::Status MultiHeadAttention(NodeContext& c) {
  Compose k(c);
  Value q = k.Input(0);
  if (!c.has_input(1) || !c.has_input(2)) {
    return c.NotSupported("packed queries, keys and values");
  }
  Value key = k.Input(1), value = k.Input(2);
  INGOT_RETURN_IF_ERROR(k.status());
  const int64_t heads = c.Int("num_heads", 0);
  if (RankOf(q) != 3 || RankOf(key) != RankOf(value) ||
      (RankOf(key) != 3 && RankOf(key) != 4)) {
    return c.NotSupported("operands ", relay::ToString(q.type()), ", ",
                          relay::ToString(key.type()), " and ",
                          relay::ToString(value.type()));
  }
  const bool split = RankOf(key) == 4;  // heads are apart already
  if (c.has_input(3)) {
    const Value bias = k.Input(3);
    int64_t q_width, v_width = 0;
    INGOT_RETURN_IF_ERROR(k.status());
    if (!tir::AsConstInt(ShapeOf(q)[2], &q_width) ||
        (!split && !tir::AsConstInt(ShapeOf(value)[2], &v_width))) {
      return c.NotSupported("a bias of operands of unknown width");
    }
    q = k.Add(q, k.Slice(bias, 0, I(0), I(q_width)));
    if (!split) {  // else it is in keys and values already
      key = k.Add(key, k.Slice(bias, 0, I(q_width), I(2 * q_width)));
      value = k.Add(value,
                    k.Slice(bias, 0, I(2 * q_width), I(2 * q_width + v_width)));
    }
  }
  q = SplitHeads(k, q, heads);
  if (!split) {
    key = SplitHeads(k, key, heads);
    value = SplitHeads(k, value, heads);
  }
  tir::Expr past = I(0);
  if (c.has_input(6) && c.has_input(7)) {
    const Value past_key = k.Input(6);
    INGOT_RETURN_IF_ERROR(k.status());
    if (RankOf(past_key) != 4) return c.Error("a past key of another rank");
    past = ShapeOf(past_key)[2];
    key = k.Concat({past_key, key}, 2);
    value = k.Concat({k.Input(7), value}, 2);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.wants_output(1)) c.SetOutput(1, key);
  if (c.wants_output(2)) c.SetOutput(2, value);
  Operands operands;
  operands.mask = 4;
  operands.bias = 5;
  return AttendHeads(k, q, key, value, past, operands);
}

}  // namespace

void AddMicrosoftAttentionConverters(ConverterTable* t) {
  t->Add("Attention", 1, &PackedAttention, kMicrosoftDomain);
  t->Add("QAttention", 1, &QuantizedAttention, kMicrosoftDomain);
  t->Add("MultiHeadAttention", 1, &MultiHeadAttention, kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend
