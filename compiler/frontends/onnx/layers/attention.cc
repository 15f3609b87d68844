// ONNX's Attention.
#include "compiler/frontends/onnx/layers/attention.h"

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
// keys alone: the others are masked.
absl::StatusOr<Value> ReadMask(Compose& k, const tir::Expr& keys) {
  NodeContext& c = k.context();
  const Value mask = k.Input(kMask);
  INGOT_RETURN_IF_ERROR(k.status());
  int64_t given, wanted;
  if (c.opset() < 24 || RankOf(mask) < 1 ||
      !tir::AsConstInt(ShapeOf(mask).back(), &given) ||
      !tir::AsConstInt(keys, &wanted) || given >= wanted) {
    return mask;
  }
  std::vector<int64_t> pads(2 * RankOf(mask), 0);
  pads.back() = wanted - given;
  Attrs attrs;
  attrs.Set("pads", std::move(pads));
  if (!mask.type().dtype.is_bool()) {
    attrs.Set("value", -std::numeric_limits<double>::infinity());
  }
  return k.Take(c.Emit("pad", {mask}, std::move(attrs), "mask"));
}

// The scores get this added; null where there is nothing to add.
struct Bias {
  Value value;
  // Whether it may keep a query from all keys.
  bool masks_rows = false;
};

// Says which keys each query may look at by place alone; null: all. The last
// query is at the last key that counts where `lengths`, [b, 1, 1, 1], says how
// many do.
Value AllowedByPlace(Compose& k, const Heads& in, Value lengths) {
  NodeContext& c = k.context();
  const tir::Expr& queries = ShapeOf(in.q)[2];
  const bool causal = c.Int("is_causal", 0) != 0;
  const int64_t left = c.Int("left_window_size", -1);
  const int64_t right = c.Int("right_window_size", -1);
  const bool by_query = causal || left >= 0 || right >= 0;
  if (!by_query && !lengths) return Value{};
  const Value key = k.CountUp(ShapeOf(in.key)[2]);
  Value allowed;
  auto require = [&](Value condition) {
    allowed = allowed ? k.Call("logical_and", {allowed, condition}) : condition;
  };
  if (by_query) {
    Value query = PlacesOfQueries(k, queries, in.past);
    if (lengths) query = k.Add(query, k.Sub(lengths, k.Number(queries)));
    const Value distance = k.Sub(query, key);
    auto at_most = [&](Value a, int64_t most) {
      require(k.Call("less_equal", {a, k.Like(a, static_cast<double>(most))}));
    };
    if (causal) require(k.Call("less_equal", {key, query}));
    if (left >= 0) at_most(distance, left);
    if (right >= 0) at_most(k.Call("neg", {distance}), right);
  }
  if (lengths) require(k.Call("less", {key, lengths}));
  return allowed;
}

absl::StatusOr<Bias> ReadBias(Compose& k, const Heads& in) {
  NodeContext& c = k.context();
  const DataType dtype = in.q.type().dtype;
  Bias bias;
  Value lengths;
  if (c.has_input(kLengths)) {
    lengths = k.Input(kLengths);
    INGOT_RETURN_IF_ERROR(k.status());
    if (RankOf(lengths) != 1) {
      return c.Error("nonpad_kv_seqlen is ", relay::ToString(lengths.type()));
    }
    lengths = k.Reshape(k.Cast(lengths, DataType::Int(64)),
                        {ShapeOf(lengths)[0], I(1), I(1), I(1)});
  }
  Value allowed = AllowedByPlace(k, in, lengths);
  // A causal query may look at the first key at least.
  bias.masks_rows = lengths || c.Int("left_window_size", -1) >= 0 ||
                    c.Int("right_window_size", -1) >= 0;
  if (c.has_input(kMask)) {
    INGOT_ASSIGN_OR_RETURN(const Value mask, ReadMask(k, ShapeOf(in.key)[2]));
    bias.masks_rows = true;
    if (!mask.type().dtype.is_bool()) {
      bias.value = k.Cast(mask, dtype);
    } else {
      allowed = allowed ? k.Call("logical_and", {allowed, mask}) : mask;
    }
  }
  if (allowed) bias.value = MaskToBias(k, allowed, dtype, bias.value);
  INGOT_RETURN_IF_ERROR(k.status());
  return bias;
}

// The weights of the values: a softmax, in the precision that the node asks
// for, with zeros where a query may look at no key.
absl::StatusOr<Value> WeightsOf(Compose& k, Value scores, const Bias& bias) {
  NodeContext& c = k.context();
  INGOT_RETURN_IF_ERROR(k.status());
  const DataType dtype = scores.type().dtype;
  INGOT_ASSIGN_OR_RETURN(const DataType precision, SoftmaxType(c, dtype));
  Value weights = k.Cast(Softmax(k, k.Cast(scores, precision)), dtype);
  if (bias.masks_rows) {
    const Value most = k.Reduce("reduce_max", bias.value, {-1});
    const Value masked =
        k.Call("equal",
               {most, k.Like(most, -std::numeric_limits<double>::infinity())});
    weights = k.Call("where", {masked, k.Like(weights, 0), weights});
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return weights;
}

absl::Status Attention(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(Heads in, ReadHeads(k));
  if (c.wants_output(1)) c.SetOutput(1, in.key);
  if (c.wants_output(2)) c.SetOutput(2, in.value);
  INGOT_ASSIGN_OR_RETURN(const Bias bias, ReadBias(k, in));
  INGOT_RETURN_IF_ERROR(CheckHeads(k, in.q, in.key, in.value));
  INGOT_ASSIGN_OR_RETURN(const double scale, ScaleOf(c, in.q, in.key));
  const Value raw = ScoresOf(k, in.q, in.key, scale);
  Value capped = raw;
  if (const double cap = c.Float("softcap", 0); cap > 0) {
    capped = k.Mul(k.Call("tanh", {k.Div(raw, cap)}), cap);
  }
  const Value biased = bias.value ? k.Add(capped, bias.value) : capped;
  INGOT_ASSIGN_OR_RETURN(const Value weights, WeightsOf(k, biased, bias));
  const Value y = WeightedSum(k, weights, in.value);
  c.SetOutput(0, in.split ? JoinHeads(k, y) : y);
  if (c.wants_output(3)) {
    const int64_t mode = c.Int("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3) return c.Error("qk_matmul_output_mode=", mode);
    const Value by_mode[] = {raw, capped, biased, weights};
    c.SetOutput(3, by_mode[mode]);
  }
  return k.status();
}

}  // namespace

void AddAttentionConverters(ConverterTable* t) {
  t->Add("Attention", 23, &Attention);
}

}  // namespace ingot::onnx_frontend
