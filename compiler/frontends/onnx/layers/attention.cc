// ONNX's Attention.
#include "compiler/frontends/onnx/layers/attention.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/states.h"

namespace ingot::onnx_frontend {
namespace {

enum Operand {
  kMask = 3,
  kPastKey = 4,
  kPastValue = 5,
  kLengths = 6,  // how many keys of each batch are none of the padding
};

// The operands, by head: [b, h, s, d].
struct Heads {
  Value q, key, value;
  tir::Expr past = I(0);  // how many keys come before those of operand 1
  bool split = false;     // whether the node has them side by side
};

// The values kept of the words before, which are operand `past`, and of the new
// ones after it.
absl::StatusOr<Value> AppendToPast(Compose& k, int past, Value now) {
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(ImportedState * state, StateInput(k.context(), past));
  if (state != nullptr && state->axis == 2) {
    return AppendToState(k.context(), now, state);
  }
  const Value all = k.Concat({k.Input(past), now}, 2);
  INGOT_RETURN_IF_ERROR(k.status());
  return all;
}

absl::StatusOr<Heads> ReadHeads(Compose& k) {
  NodeContext& c = k.context();
  Heads in{k.Input(0), k.Input(1), k.Input(2)};
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(in.q);
  if ((rank != 3 && rank != 4) || RankOf(in.key) != rank ||
      RankOf(in.value) != rank) {
    return c.Error("operands ", relay::ToString(in.q.type()), ", ",
                   relay::ToString(in.key.type()), " and ",
                   relay::ToString(in.value.type()), " must have rank 3 or 4");
  }
  in.split = rank == 3;
  if (in.split) {
    in.q = SplitHeads(k, in.q, c.Int("q_num_heads", 0));
    in.key = SplitHeads(k, in.key, c.Int("kv_num_heads", 0));
    in.value = SplitHeads(k, in.value, c.Int("kv_num_heads", 0));
  }
  if (c.has_input(kPastKey) != c.has_input(kPastValue)) {
    return c.Error("a past key needs a past value");
  }
  if (c.has_input(kPastKey)) {
    const Value past_key = k.Input(kPastKey);
    INGOT_RETURN_IF_ERROR(k.status());
    if (RankOf(past_key) != 4) return c.Error("a past key of another rank");
    if (c.has_input(kLengths)) {
      return c.Error("nonpad_kv_seqlen is for keys without a past");
    }
    in.past = ShapeOf(past_key)[2];
    INGOT_ASSIGN_OR_RETURN(in.key, AppendToPast(k, kPastKey, in.key));
    INGOT_ASSIGN_OR_RETURN(in.value, AppendToPast(k, kPastValue, in.value));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return in;
}

// The operand that masks scores. Since operator set 24 it may be for the first
// keys alone, even for one: the others are masked.
absl::StatusOr<Value> ReadMask(Compose& k, const tir::Expr& keys) {
  NodeContext& c = k.context();
  const Value mask = k.Input(kMask);
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.opset() < 24 || RankOf(mask) < 1) return mask;
  int64_t given, wanted;
  if (!tir::AsConstInt(ShapeOf(mask).back(), &given) ||
      !tir::AsConstInt(keys, &wanted)) {
    // A run refuses what would have to be padded.
    Shape whole = ShapeOf(mask);
    whole.back() = keys;
    return c.FixShape(mask, whole, "mask");
  }
  if (given >= wanted) return mask;
  std::vector<int64_t> pads(2 * RankOf(mask), 0);
  pads.back() = wanted - given;
  Attrs attrs;
  attrs.Set("pads", std::move(pads));
  if (!mask.type().dtype.is_bool()) {
    attrs.Set("value", -std::numeric_limits<double>::infinity());
  }
  return k.Take(c.Emit("pad", {mask}, std::move(attrs), "mask"));
}

// Reads what the node says of keys that count, and of scores.
absl::StatusOr<AttentionOptions> ReadOptions(Compose& k, const Heads& in) {
  NodeContext& c = k.context();
  AttentionOptions o;
  if (c.has_input(kLengths)) {
    o.lengths = k.Cast(k.Input(kLengths), DataType::Int(64));
    INGOT_RETURN_IF_ERROR(k.status());
    if (RankOf(o.lengths) != 1) {
      return c.Error("nonpad_kv_seqlen is ", relay::ToString(o.lengths.type()));
    }
  }
  o.left = std::max<int64_t>(c.Int("left_window_size", -1), -1);
  o.right = std::max<int64_t>(c.Int("right_window_size", -1), -1);
  if (c.Int("is_causal", 0) != 0) o.right = 0;
  if (o.left >= 0 || o.right >= 0) {
    // The last query is at the last key that counts.
    o.places = o.lengths ? k.Sub(o.lengths, k.Number(ShapeOf(in.q)[2]))
                         : k.Number(in.past);
  }
  // A causal query may look at the first key at least.
  o.masked_zero = o.lengths || c.has_input(kMask) || o.left >= 0 ||
                  c.Int("right_window_size", -1) >= 0;
  if (c.has_input(kMask)) {
    INGOT_ASSIGN_OR_RETURN(o.bias, ReadMask(k, ShapeOf(in.key)[2]));
    if (!o.bias.type().dtype.is_bool()) {
      o.bias = k.Cast(o.bias, in.q.type().dtype);
    }
  }
  INGOT_ASSIGN_OR_RETURN(o.scale, ScaleOf(c, in.q, in.key));
  o.softcap = std::max(c.Float("softcap", 0), 0.0);
  INGOT_ASSIGN_OR_RETURN(o.precision, SoftmaxType(c, in.q.type().dtype));
  INGOT_RETURN_IF_ERROR(k.status());
  return o;
}

// Says which keys each query may look at by place and mask; null: all.
Value AllowedKeys(Compose& k, const Heads& in, const AttentionOptions& o) {
  const Value key = k.CountUp(ShapeOf(in.key)[2]);
  Value allowed;
  auto require = [&](Value condition) {
    allowed = allowed ? k.Call("logical_and", {allowed, condition}) : condition;
  };
  auto column = [&](Value v) {
    return k.ok() ? k.Reshape(v, {ShapeOf(v)[0], I(1), I(1), I(1)}) : Value{};
  };
  if (o.places) {
    const Value query =
        k.Add(PlacesOfQueries(k, ShapeOf(in.q)[2], I(0)), column(o.places));
    const Value distance = k.Sub(query, key);
    auto at_most = [&](Value a, int64_t most) {
      require(k.Call("less_equal", {a, k.Like(a, static_cast<double>(most))}));
    };
    if (o.left >= 0) at_most(distance, o.left);
    if (o.right >= 0) at_most(k.Call("neg", {distance}), o.right);
  }
  if (o.lengths) require(k.Call("less", {key, column(o.lengths)}));
  if (o.bias && o.bias.type().dtype.is_bool()) require(o.bias);
  return allowed;
}

// The weights of the values: a softmax, in the precision that the node asks
// for, with zeros where a query may look at no key. `bias`: what was added to
// the scores; null: nothing.
absl::StatusOr<Value> WeightsOf(Compose& k, Value scores, Value bias,
                                const AttentionOptions& o) {
  INGOT_RETURN_IF_ERROR(k.status());
  const DataType dtype = scores.type().dtype;
  Value weights = k.Cast(Softmax(k, k.Cast(scores, o.precision)), dtype);
  if (bias && o.masked_zero) {
    const Value most = k.Reduce("reduce_max", bias, {-1});
    const Value masked =
        k.Call("equal",
               {most, k.Like(most, -std::numeric_limits<double>::infinity())});
    weights = k.Call("where", {masked, k.Like(weights, 0), weights});
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return weights;
}

// The scores, for who asks for them, after as many steps as the node says.
absl::StatusOr<Value> AskedScores(Compose& k, const Heads& in,
                                  const AttentionOptions& o) {
  NodeContext& c = k.context();
  const int64_t mode = c.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) return c.Error("qk_matmul_output_mode=", mode);
  Value scores = ScoresOf(k, in.q, in.key, o.scale);
  if (mode >= 1 && o.softcap > 0) {
    scores = k.Mul(k.Call("tanh", {k.Div(scores, o.softcap)}), o.softcap);
  }
  if (mode < 2) return scores;
  const Value allowed = AllowedKeys(k, in, o);
  INGOT_RETURN_IF_ERROR(k.status());
  Value bias = o.bias && !o.bias.type().dtype.is_bool() ? o.bias : Value{};
  if (allowed) bias = MaskToBias(k, allowed, in.q.type().dtype, bias);
  if (bias) scores = k.Add(scores, bias);
  return mode == 2 ? scores : WeightsOf(k, scores, bias, o);
}

absl::Status Attention(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(Heads in, ReadHeads(k));
  if (c.wants_output(1)) c.SetOutput(1, in.key);
  if (c.wants_output(2)) c.SetOutput(2, in.value);
  INGOT_RETURN_IF_ERROR(CheckHeads(k, in.q, in.key, in.value));
  INGOT_ASSIGN_OR_RETURN(const AttentionOptions options, ReadOptions(k, in));
  const Value y = Attend(k, in.q, in.key, in.value, options);
  c.SetOutput(0, in.split ? JoinHeads(k, y) : y);
  if (c.wants_output(3)) {
    INGOT_ASSIGN_OR_RETURN(const Value scores, AskedScores(k, in, options));
    c.SetOutput(3, scores);
  }
  return k.status();
}

}  // namespace

void AddAttentionConverters(ConverterTable* t) {
  t->Add("Attention", 23, &Attention);
}

}  // namespace ingot::onnx_frontend
