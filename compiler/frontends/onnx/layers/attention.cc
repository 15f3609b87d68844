// Attention and rotary embeddings, of ONNX's domain and of com.microsoft.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

tir::Expr I(int64_t value) { return tir::MakeInt(value); }

// [batch, length, heads * size] -> [batch, heads, length, size]
Value SplitHeads(Compose& k, Value x, int64_t heads) {
  NodeContext& c = k.context();
  int64_t width;
  if (!k.ok()) return Value{};
  const Shape& in = ShapeOf(x);
  if (heads < 1 || in.size() != 3 || !tir::AsConstInt(in[2], &width) ||
      width % heads != 0) {
    k.Check(c.Error(heads, " heads of ", relay::ToString(x.type())));
    return Value{};
  }
  x = k.Reshape(x, {in[0], in[1], I(heads), I(width / heads)});
  return k.Transpose(x, {0, 2, 1, 3});
}

// The inverse.
Value JoinHeads(Compose& k, Value x) {
  x = k.Transpose(x, {0, 2, 1, 3});
  if (!k.ok()) return Value{};
  const Shape& in = ShapeOf(x);
  return k.Reshape(x, {in[0], in[1], SimplifyDim(in[2] * in[3])});
}

// Each head `times` times in a row: [b, h, s, d] -> [b, h * times, s, d].
Value RepeatHeads(Compose& k, Value x, int64_t times) {
  if (!k.ok() || times == 1) return x;
  const Shape in = ShapeOf(x);
  x = k.Reshape(x, {in[0], in[1], I(1), in[2], in[3]});
  x = k.Expand(x, {in[0], in[1], I(times), in[2], in[3]});
  return k.Reshape(x, {in[0], SimplifyDim(in[1] * times), in[2], in[3]});
}

// 0 where `mask` is true and -inf elsewhere, of type `dtype`.
Value MaskToBias(Compose& k, Value mask, DataType dtype) {
  if (!k.ok()) return Value{};
  NodeContext& c = k.context();
  return k.Call("where", {mask, k.Take(c.Scalar(dtype, 0)),
                          k.Take(c.Scalar(dtype, kMinusInfinity))});
}

// [queries, keys]: true where the key does not come after the query, `past`
// keys being before the first query.
Value NotAfter(Compose& k, const tir::Expr& queries, const tir::Expr& keys,
               const tir::Expr& past) {
  NodeContext& c = k.context();
  auto range = [&](const tir::Expr& count) {
    Attrs attrs;
    attrs.Set("count", Shape{count});
    attrs.Set("dtype", DataType::Int(64));
    absl::StatusOr<std::vector<Value>> sources =
        c.builder().DimSources({count});
    if (!k.Check(sources.status())) return Value{};
    return k.Call("range", *sources, std::move(attrs));
  };
  Attrs dims;
  dims.Set("values", Shape{past});
  absl::StatusOr<std::vector<Value>> sources = c.builder().DimSources({past});
  if (!k.Check(sources.status())) return Value{};
  const Value first = k.Call("dims", *sources, std::move(dims));
  const Value last = k.Reshape(k.Add(range(queries), first), {queries, I(1)});
  return k.Call("less_equal", {range(keys), last});
}

struct Scores {
  Value raw, capped, biased, weights;
};

// softmax(cap(q k^T * scale) + bias) v, all [b, h, s, d]; bias may be null.
Value Attend(Compose& k, Value q, Value key, Value value, Value bias,
             double scale, double softcap, Scores* scores) {
  Value s = k.Call("matmul", {k.Mul(q, scale), k.Transpose(key, {0, 1, 3, 2})});
  scores->raw = s;
  if (softcap > 0) s = k.Mul(k.Call("tanh", {k.Div(s, softcap)}), softcap);
  scores->capped = s;
  if (bias) s = k.Add(s, bias);
  scores->biased = s;
  Attrs attrs;
  attrs.Set("axis", int64_t{-1});
  scores->weights = k.Call("softmax", {s}, std::move(attrs));
  return k.Call("matmul", {scores->weights, value});
}

// The attribute, or 1 / sqrt(d). Queries and keys are as wide as each other, so
// either of them may tell how wide.
absl::StatusOr<double> ScaleOf(NodeContext& c, const Value& q,
                               const Value& key) {
  if (const double scale = c.Float("scale", 0); scale != 0) return scale;
  int64_t size;
  if (!tir::AsConstInt(ShapeOf(q)[3], &size) &&
      !tir::AsConstInt(ShapeOf(key)[3], &size)) {
    return c.NotSupported(
        "a size of heads that only a run knows, without the "
        "attribute scale");
  }
  return 1 / std::sqrt(static_cast<double>(size));
}

// ONNX's Attention: Q, K, V, mask, past key, past value.
absl::Status Attention(NodeContext& c) {
  Compose k(c);
  Value q = k.Input(0), key = k.Input(1), value = k.Input(2);
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(q);
  if ((rank != 3 && rank != 4) || RankOf(key) != rank ||
      RankOf(value) != rank) {
    return c.Error("operands ", relay::ToString(q.type()), ", ",
                   relay::ToString(key.type()), " and ",
                   relay::ToString(value.type()), " must have rank 3 or 4");
  }
  if (c.has_input(6)) return c.NotSupported("nonpad_kv_seqlen");
  if (rank == 3) {
    q = SplitHeads(k, q, c.Int("q_num_heads", 0));
    key = SplitHeads(k, key, c.Int("kv_num_heads", 0));
    value = SplitHeads(k, value, c.Int("kv_num_heads", 0));
  }
  tir::Expr past = I(0);
  if (c.has_input(4) != c.has_input(5)) {
    return c.Error("a past key needs a past value");
  }
  if (c.has_input(4)) {
    const Value past_key = k.Input(4);
    INGOT_RETURN_IF_ERROR(k.status());
    if (RankOf(past_key) != 4) return c.Error("a past key of another rank");
    past = ShapeOf(past_key)[2];
    key = k.Concat({past_key, key}, 2);
    value = k.Concat({k.Input(5), value}, 2);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.wants_output(1)) c.SetOutput(1, key);
  if (c.wants_output(2)) c.SetOutput(2, value);

  const DataType dtype = q.type().dtype;
  const tir::Expr queries = ShapeOf(q)[2], keys = ShapeOf(key)[2];
  Value bias;
  if (c.has_input(3)) {
    bias = k.Input(3);
    INGOT_RETURN_IF_ERROR(k.status());
    if (bias.type().dtype.is_bool()) bias = MaskToBias(k, bias, dtype);
  }
  if (c.Int("is_causal", 0) != 0) {
    const Value causal = MaskToBias(k, NotAfter(k, queries, keys, past), dtype);
    bias = bias ? k.Add(bias, causal) : causal;
  }
  int64_t q_heads, kv_heads;
  INGOT_RETURN_IF_ERROR(k.status());
  if (!tir::AsConstInt(ShapeOf(q)[1], &q_heads) ||
      !tir::AsConstInt(ShapeOf(key)[1], &kv_heads) || kv_heads < 1 ||
      q_heads % kv_heads != 0) {
    return c.Error("heads of ", relay::ToString(q.type()), " and ",
                   relay::ToString(key.type()), " do not fit");
  }
  key = RepeatHeads(k, key, q_heads / kv_heads);
  value = RepeatHeads(k, value, q_heads / kv_heads);
  const int64_t precision = c.Int("softmax_precision", 0);
  if (precision != 0 && precision != 1) {
    return c.NotSupported("softmax_precision=", precision);
  }
  Scores scores;
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(const double scale, ScaleOf(c, q, key));
  Value y =
      Attend(k, q, key, value, bias, scale, c.Float("softcap", 0), &scores);
  if (rank == 3) y = JoinHeads(k, y);
  c.SetOutput(0, y);
  if (c.wants_output(3)) {
    const int64_t mode = c.Int("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3) return c.Error("qk_matmul_output_mode=", mode);
    const Value by_mode[] = {scores.raw, scores.capped, scores.biased,
                             scores.weights};
    c.SetOutput(3, by_mode[mode]);
  }
  return k.status();
}

// A bias that masks keys: `mask` [batch, keys] is 1 where they
// do.
Value PaddingBias(Compose& k, Value mask, DataType dtype) {
  NodeContext& c = k.context();
  if (!k.ok()) return Value{};
  if (RankOf(mask) != 2) {
    k.Check(c.NotSupported("a mask ", relay::ToString(mask.type())));
    return Value{};
  }
  const Value counts =
      k.Cast(k.Reshape(mask, {ShapeOf(mask)[0], I(1), I(1), ShapeOf(mask)[1]}),
             DataType::Bool());
  const double filter = c.Float("mask_filter_value", -10000);
  return k.Call("where", {counts, k.Take(c.Scalar(dtype, 0)),
                          k.Take(c.Scalar(dtype, filter))});
}

// Attention of com.microsoft's operators on queries, keys and values whose
// heads are apart: makes the node's output from them. Operand `mask` keeps keys
// out, operand 5 is added to the scores; `past` keys stand before those of the
// queries' own words.
absl::Status AttendHeads(Compose& k, Value q, Value key, Value value,
                         const tir::Expr& past, int mask) {
  NodeContext& c = k.context();
  const DataType dtype = q.type().dtype;
  Value bias;
  if (c.has_input(5)) bias = k.Input(5);
  if (c.has_input(mask)) {
    const Value padding = PaddingBias(k, k.Input(mask), dtype);
    bias = bias ? k.Add(bias, padding) : padding;
  }
  if (c.Int("unidirectional", 0) != 0) {
    const Value causal =
        MaskToBias(k, NotAfter(k, ShapeOf(q)[2], ShapeOf(key)[2], past), dtype);
    bias = bias ? k.Add(bias, causal) : causal;
  }
  INGOT_RETURN_IF_ERROR(k.status());
  Scores scores;
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(const double scale, ScaleOf(c, q, key));
  const Value y = Attend(k, q, key, value, bias, scale, 0, &scores);
  c.SetOutput(0, JoinHeads(k, y));
  return k.status();
}

// com.microsoft: words, weights of queries, keys and values side by side, their
// biases, a padding mask, past keys and values stacked, a bias of the scores.
absl::Status PackedAttention(NodeContext& c) {
  Compose k(c);
  const Value x = k.Input(0), w = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  const int64_t heads = c.Int("num_heads", 0);
  int64_t width;
  if (RankOf(x) != 3 || RankOf(w) != 2 ||
      !tir::AsConstInt(ShapeOf(w)[1], &width)) {
    return c.Error("operands ", relay::ToString(x.type()), " and ",
                   relay::ToString(w.type()));
  }
  if (c.Int("do_rotary", 0) != 0) return c.NotSupported("do_rotary");
  std::vector<int64_t> sizes = c.Ints("qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, width / 3);
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] < 1 ||
      sizes[2] < 1 || sizes[0] > width || sizes[2] > width ||
      sizes[0] + sizes[1] + sizes[2] != width) {
    return c.Error("qkv_hidden_sizes do not add up to ", width);
  }
  Value all = k.Call("matmul", {x, w});
  if (c.has_input(2)) all = k.Add(all, k.Input(2));
  auto part = [&](int64_t start, int64_t size) {
    return SplitHeads(k, k.Slice(all, 2, I(start), I(start + size)), heads);
  };
  const Value q = part(0, sizes[0]);
  Value key = part(sizes[0], sizes[1]);
  Value value = part(sizes[0] + sizes[1], sizes[2]);
  tir::Expr past = I(0);
  if (c.has_input(4)) {
    // [2, batch, heads, length, size]
    const Value both = k.Input(4);
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
  return AttendHeads(k, q, key, value, past, /*mask=*/3);
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
    if (split || !tir::AsConstInt(ShapeOf(q)[2], &q_width) ||
        !tir::AsConstInt(ShapeOf(value)[2], &v_width)) {
      return c.NotSupported("a bias of operands of unknown width");
    }
    q = k.Add(q, k.Slice(bias, 0, I(0), I(q_width)));
    key = k.Add(key, k.Slice(bias, 0, I(q_width), I(2 * q_width)));
    value = k.Add(value,
                  k.Slice(bias, 0, I(2 * q_width), I(2 * q_width + v_width)));
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
  return AttendHeads(k, q, key, value, past, /*mask=*/4);
}

// The rotation of pairs of x's last dimension, x being [b, h, s, d] and the
// angles' cosines and sines [b or 1, s, rotated / 2]. Pairs are neighbours when
// interleaved, else of the two halves of what is rotated.
Value Rotate(Compose& k, Value x, Value cosine, Value sine, int64_t rotated,
             bool interleaved) {
  if (!k.ok()) return Value{};
  NodeContext& c = k.context();
  int64_t size;
  const Shape in = ShapeOf(x);
  if (!tir::AsConstInt(in[3], &size) || rotated % 2 != 0 || rotated < 0 ||
      rotated > size) {
    k.Check(
        c.Error("cannot rotate ", rotated, " of ", relay::ToString(x.type())));
    return Value{};
  }
  if (rotated == 0) rotated = size;
  const int64_t half = rotated / 2;
  auto by_head = [&](Value angles) {
    if (!k.ok()) return Value{};
    const Shape& s = ShapeOf(angles);
    if (s.size() != 3) {
      k.Check(c.Error("a cache of ", relay::ToString(angles.type())));
      return Value{};
    }
    return k.Reshape(angles, {s[0], I(1), s[1], s[2]});
  };
  cosine = by_head(cosine);
  sine = by_head(sine);
  const Value part = k.Slice(x, 3, I(0), I(rotated));
  Value first, second;
  if (interleaved) {
    const Value pairs = k.Reshape(part, {in[0], in[1], in[2], I(half), I(2)});
    const Shape flat = {in[0], in[1], in[2], I(half)};
    first = k.Reshape(k.Slice(pairs, 4, I(0), I(1)), flat);
    second = k.Reshape(k.Slice(pairs, 4, I(1), I(2)), flat);
  } else {
    first = k.Slice(part, 3, I(0), I(half));
    second = k.Slice(part, 3, I(half), I(rotated));
  }
  Value a = k.Sub(k.Mul(first, cosine), k.Mul(second, sine));
  Value b = k.Add(k.Mul(first, sine), k.Mul(second, cosine));
  Value y;
  if (interleaved) {
    const Shape column = {in[0], in[1], in[2], I(half), I(1)};
    y = k.Concat({k.Reshape(a, column), k.Reshape(b, column)}, 4);
    y = k.Reshape(y, {in[0], in[1], in[2], I(rotated)});
  } else {
    y = k.Concat({a, b}, 3);
  }
  if (rotated == size) return y;
  return k.Concat({y, k.Slice(x, 3, I(rotated), I(size))}, 3);
}

// `cosine`, `sine`, `positions`: the numbers of the operands.
absl::Status ConvertRotary(NodeContext& c, int cosine, int sine,
                           int positions) {
  Compose k(c);
  Value x = k.Input(0), cos = k.Input(cosine), sin = k.Input(sine);
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(x);
  if (rank != 3 && rank != 4) {
    return c.Error("the operand is ", relay::ToString(x.type()));
  }
  if (RankOf(cos) < 1 || RankOf(sin) < 1) {
    return c.Error("caches ", relay::ToString(cos.type()), " and ",
                   relay::ToString(sin.type()));
  }
  const int64_t rotated = c.Int("rotary_embedding_dim", 0);
  if (rank == 3) {
    int64_t heads = c.Int("num_heads", 0);
    int64_t width, half;
    // Without a number of heads they are as wide as what is rotated.
    if (heads == 0 && tir::AsConstInt(ShapeOf(x)[2], &width) &&
        tir::AsConstInt(ShapeOf(cos).back(), &half) && half > 0) {
      heads = width / (2 * half);
    }
    x = SplitHeads(k, x, heads);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.has_input(positions)) {
    Value at = k.Input(positions);
    INGOT_RETURN_IF_ERROR(k.status());
    if (RankOf(at) == 1) {
      // The place of the first; the others follow.
      const tir::Expr length = ShapeOf(x)[2];
      Attrs range;
      range.Set("count", Shape{length});
      range.Set("dtype", at.type().dtype);
      INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                             c.builder().DimSources({length}));
      at = k.Reshape(k.Add(k.Call("range", sources, std::move(range)), at),
                     {I(1), length});
    }
    cos = k.Call("gather", {cos, at});
    sin = k.Call("gather", {sin, at});
  }
  Value y = Rotate(k, x, cos, sin, rotated, c.Int("interleaved", 0) != 0);
  if (rank == 3) y = JoinHeads(k, y);
  c.SetOutput(0, y);
  return k.status();
}

absl::Status RotaryEmbedding(NodeContext& c) {
  return ConvertRotary(c, 1, 2, 3);
}

absl::Status MicrosoftRotaryEmbedding(NodeContext& c) {
  if (c.Float("scale", 1) != 1 || c.Int("is_packed_batching", 0) != 0) {
    return c.NotSupported("scale or is_packed_batching");
  }
  return ConvertRotary(c, 2, 3, 1);
}

}  // namespace

void AddAttentionConverters(ConverterTable* t) {
  t->Add("Attention", &Attention);
  t->Add("RotaryEmbedding", &RotaryEmbedding);
  t->Add("Attention", &PackedAttention, kMicrosoftDomain);
  t->Add("MultiHeadAttention", &MultiHeadAttention, kMicrosoftDomain);
  t->Add("RotaryEmbedding", &MicrosoftRotaryEmbedding, kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend
