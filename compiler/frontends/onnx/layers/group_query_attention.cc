// com.microsoft's GroupQueryAttention: attention of words whose keys and values
// are kept from run to run, each sequence of a batch as long as it is.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/states.h"
#include "compiler/frontends/onnx/layers/attention.h"
#include "compiler/frontends/onnx/layers/rotary.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

enum Operand {
  kPastKey = 3,
  kPastValue = 4,
  kLastPlaces = 5,  // of each sequence: how many words it has, less one
  kTotal = 6,       // words of the longest sequence
  kCosine = 7,
  kSine = 8,
  kPositions = 9,
  kBias = 10,
  kSink = 11,
};

const DataType kI64 = DataType::Int(64);

// By head: [batch, heads, words, size].
struct Heads {
  Value q, key, value;
  // Keys and values as they are kept; null: those above.
  Value kept_key, kept_value;
};

absl::StatusOr<Heads> ReadHeads(Compose& k) {
  NodeContext& c = k.context();
  const int64_t heads = c.Int("num_heads", 0);
  const int64_t kept = c.Int("kv_num_heads", 0);
  const Value q = k.Input(0);
  INGOT_RETURN_IF_ERROR(k.status());
  if (heads < 1 || kept < 1 || heads > (1 << 20) || kept > heads ||
      RankOf(q) != 3) {
    return c.Error(heads, " heads, ", kept, " of them kept, of ",
                   relay::ToString(q.type()));
  }
  if (c.has_input(1) && c.has_input(2)) {
    Heads in;
    in.q = SplitHeads(k, q, heads);
    in.key = SplitHeads(k, k.Input(1), kept);
    in.value = SplitHeads(k, k.Input(2), kept);
    return in;
  }
  // All three are side by side.
  const Value all = SplitHeads(k, q, heads + 2 * kept);
  Heads in;
  in.q = k.Slice(all, 1, I(0), I(heads));
  in.key = k.Slice(all, 1, I(heads), I(heads + kept));
  in.value = k.Slice(all, 1, I(heads + kept), I(heads + 2 * kept));
  return in;
}

// The number of words of each sequence that were there before: i64[batch, 1].
absl::StatusOr<Value> PastLengths(Compose& k, const Expr& batch,
                                  const Expr& words) {
  NodeContext& c = k.context();
  Value last = k.Input(kLastPlaces);
  INGOT_RETURN_IF_ERROR(k.status());
  last = k.Reshape(k.Cast(last, kI64), {batch, I(1)});
  const Value past = k.Sub(k.Add(last, 1), k.Number(words));
  // A sequence that is filled up has none.
  const Value none = k.Like(past, 0);
  const Value lengths = k.Call("maximum", {past, none});
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.has_input(kPastKey) != c.has_input(kPastValue)) {
    return c.Error("a past key needs a past value");
  }
  return lengths;
}

// Rotates queries and keys by their places, i64[batch, words].
absl::Status RotateBoth(Compose& k, Value places, Heads* in) {
  NodeContext& c = k.context();
  if (c.Int("do_rotary", 0) == 0) return absl::OkStatus();
  if (c.has_input(kPositions)) places = k.Input(kPositions);
  const Value cosine = k.Input(kCosine), sine = k.Input(kSine);
  int64_t half;
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(cosine) != 2 || RankOf(sine) != 2 ||
      !tir::AsConstInt(ShapeOf(cosine)[1], &half)) {
    return c.Error("caches ", relay::ToString(cosine.type()), " and ",
                   relay::ToString(sine.type()));
  }
  const bool interleaved = c.Int("rotary_interleaved", 0) != 0;
  for (Value* x : {&in->q, &in->key}) {
    *x = Rotate(k, *x, k.Call("gather", {cosine, places}),
                k.Call("gather", {sine, places}), 2 * half, interleaved);
  }
  return k.status();
}

// The words that were kept and the new ones, each sequence's own one after the
// other: [batch, heads, total, size], with zeros after them. `past` is
// i64[batch, 1].
Value Kept(Compose& k, Value kept, Value now, Value past, const Expr& total) {
  if (!k.ok()) return Value{};
  const Shape in = ShapeOf(now);
  const Expr before = ShapeOf(kept)[2];
  const Value place = k.CountUp(total);
  const Value is_old = k.Call("less", {place, past});
  const Value is_word = k.Call("less", {place, k.Add(past, k.Number(in[2]))});
  Value from = k.Call(
      "where", {is_old, place, k.Add(k.Sub(place, past), k.Number(before))});
  from = k.Call("where", {is_word, from, k.Like(from, 0)});
  const Shape column = {in[0], I(1), total, I(1)};
  from = k.Expand(k.Reshape(from, column), {in[0], in[1], total, in[3]});
  Attrs attrs;
  attrs.Set("axis", int64_t{2});
  const Value all = k.Concat({kept, now}, 2);
  const Value y = k.Call("gather_elements", {all, from}, std::move(attrs));
  return k.Call("where", {k.Reshape(is_word, column), y, k.Like(y, 0)});
}

// Writes the new keys or values of each sequence after its own kept ones, where
// these are. Gives those of the first `words`, and all that there is room for.
absl::StatusOr<std::pair<Value, Value>> KeptInPlace(Compose& k, Value now,
                                                    Value past,
                                                    const Expr& words,
                                                    ImportedState* state) {
  const Value starts = k.Reshape(past, {ShapeOf(past)[0]});
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(const Value all,
                         UpdateState(k.context(), now, starts, state));
  const Value some = k.Slice(all, state->axis, I(0), words);
  INGOT_RETURN_IF_ERROR(k.status());
  return std::make_pair(some, all);
}

// Appends the new keys and values to the kept ones.
absl::Status AppendToPast(Compose& k, Value past, Heads* in) {
  NodeContext& c = k.context();
  if (!c.has_input(kPastKey)) return absl::OkStatus();
  constexpr int64_t kMostWords = int64_t{1} << 31;
  const Value past_key = k.Input(kPastKey), past_value = k.Input(kPastValue);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(past_key) != 4 || RankOf(past_value) != 4) {
    return c.Error("a past of ", relay::ToString(past_key.type()), " and ",
                   relay::ToString(past_value.type()));
  }
  INGOT_ASSIGN_OR_RETURN(
      const Expr words,
      c.RunTimeExtent(kTotal, "total_sequence_length", kMostWords));
  INGOT_ASSIGN_OR_RETURN(ImportedState * keys, StateInput(c, kPastKey));
  INGOT_ASSIGN_OR_RETURN(ImportedState * values, StateInput(c, kPastValue));
  if (keys != nullptr && values != nullptr && keys->axis == 2 &&
      values->axis == 2) {
    INGOT_ASSIGN_OR_RETURN(std::tie(in->key, in->kept_key),
                           KeptInPlace(k, in->key, past, words, keys));
    INGOT_ASSIGN_OR_RETURN(std::tie(in->value, in->kept_value),
                           KeptInPlace(k, in->value, past, words, values));
    return k.status();
  }
  // The cache may have room for more words than there are.
  const Expr total = SimplifyDim(Max(ShapeOf(past_key)[2], words));
  in->key = Kept(k, past_key, in->key, past, total);
  in->value = Kept(k, past_value, in->value, past, total);
  return k.status();
}

absl::Status GroupQueryAttention(NodeContext& c) {
  if (c.wants_output(3)) return c.NotSupported("the scores as a result");
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(Heads in, ReadHeads(k));
  INGOT_RETURN_IF_ERROR(k.status());
  const Expr batch = ShapeOf(in.q)[0], words = ShapeOf(in.q)[2];
  INGOT_ASSIGN_OR_RETURN(const Value past, PastLengths(k, batch, words));
  const Value places = k.Add(past, k.CountUp(words));
  INGOT_RETURN_IF_ERROR(RotateBoth(k, places, &in));
  INGOT_RETURN_IF_ERROR(AppendToPast(k, past, &in));
  if (c.wants_output(1)) c.SetOutput(1, in.kept_key ? in.kept_key : in.key);
  if (c.wants_output(2)) {
    c.SetOutput(2, in.kept_value ? in.kept_value : in.value);
  }
  INGOT_RETURN_IF_ERROR(CheckHeads(k, in.q, in.key, in.value));
  AttentionOptions options;
  INGOT_ASSIGN_OR_RETURN(options.scale, ScaleOf(c, in.q, in.key));
  options.softcap = std::max(c.Float("softcap", 0), 0.0);
  options.places = k.Reshape(past, {batch});
  options.right = 0;
  options.left = std::max<int64_t>(c.Int("local_window_size", -1), 0) - 1;
  const DataType dtype = in.q.type().dtype;
  if (c.has_input(kBias)) options.bias = k.Cast(k.Input(kBias), dtype);
  // Each head may have a score that belongs to no key.
  if (c.has_input(kSink)) {
    options.sink = k.Cast(k.Input(kSink), dtype);
  } else if (c.Int("smooth_softmax", 0) != 0) {
    options.sink = k.Full(dtype, {ShapeOf(in.q)[1]}, 0);
  }
  c.SetOutput(0, JoinHeads(k, Attend(k, in.q, in.key, in.value, options)));
  return k.status();
}

}  // namespace

void AddGroupQueryAttentionConverters(ConverterTable* t) {
  t->Add("GroupQueryAttention", 1, &GroupQueryAttention, kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend
