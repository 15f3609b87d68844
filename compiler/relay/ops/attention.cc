// Attention: sums of values by the softmax of how queries and keys agree. No
// scores are results, so that a schedule need not keep more than a few of them.
#include <algorithm>
#include <limits>

#include "compiler/relay/ops/common.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

enum Operand {
  kQuery,
  kKey,
  kValue,
  kBias,     // is added to the scores, or of bool: says which of them count
  kPlaces,   // of the first query among the keys
  kLengths,  // how many keys count
  kSink,     // a score of each head that belongs to no key
};

// Returns how many heads of queries share one of keys; 0: that is not known.
int64_t GroupOf(const Dim& heads, const Dim& kept) {
  if (SameDim(heads, kept)) return 1;
  int64_t h, k;
  const bool known = ConstDim(heads, &h) && ConstDim(kept, &k);
  return known && k > 0 && h % k == 0 ? h / k : 0;
}

// The type of scores and their softmax.
DataType ScoreType(const Attrs& attrs, DataType t) {
  return attrs.Has("precision") ? attrs.Get<DataType>("precision")
                                : ComputeType(t);
}

double LowestNumber(DataType t) {
  if (t == DataType::Float(16)) return -65504;
  if (t == DataType::BFloat16()) return -3.3895313892515355e38;
  return t.bits == 64 ? std::numeric_limits<double>::lowest()
                      : std::numeric_limits<float>::lowest();
}

absl::Status CheckBias(const InferContext& c, const Shape& scores) {
  const TensorType& bias = c.type(kBias);
  if (!bias.dtype.is_bool()) {
    INGOT_RETURN_IF_ERROR(ExpectSameType(c.type(kQuery), bias));
  }
  INGOT_ASSIGN_OR_RETURN(const Shape joined,
                         BroadcastShapes({scores, bias.shape}, c.assumed));
  bool fits = joined.size() == scores.size();
  for (size_t i = 0; fits && i < scores.size(); ++i) {
    fits = MayBeEqual(joined[i], scores[i], c.assumed);
  }
  return fits ? absl::OkStatus()
              : Invalid("a bias ", ToString(bias), " of scores ",
                        ToString(TensorType{bias.dtype, scores}));
}

// Operands with a number for each batch, or one for all.
absl::Status CheckCounts(const InferContext& c, Operand operand,
                         absl::string_view what) {
  const TensorType& type = c.type(operand);
  INGOT_RETURN_IF_ERROR(ExpectRank(type, 1, what));
  if (type.dtype != DataType::Int(64)) {
    return Invalid(what, " are ", ToString(type), ", not i64");
  }
  if (SameDim(type.shape[0], I64(1)) ||
      MayBeEqual(type.shape[0], c.type(kQuery).shape[0], c.assumed)) {
    return absl::OkStatus();
  }
  return Invalid(what, " ", ToString(type), " for queries ",
                 ToString(c.type(kQuery)));
}

absl::StatusOr<Types> Infer(const InferContext& c) {
  const TensorType &q = c.type(kQuery), &k = c.type(kKey), &v = c.type(kValue);
  INGOT_RETURN_IF_ERROR(ExpectFloat(q, "the queries"));
  for (int i = kQuery; i <= kValue; ++i) {
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(i), 4, "an operand"));
    INGOT_RETURN_IF_ERROR(ExpectSameType(q, c.type(i)));
  }
  const std::pair<const Dim&, const Dim&> same[] = {
      {q.shape[0], k.shape[0]}, {q.shape[0], v.shape[0]},
      {q.shape[3], k.shape[3]}, {k.shape[1], v.shape[1]},
      {k.shape[2], v.shape[2]},
  };
  const bool fits =
      GroupOf(q.shape[1], k.shape[1]) > 0 &&
      std::all_of(std::begin(same), std::end(same), [&](const auto& dims) {
        return MayBeEqual(dims.first, dims.second, c.assumed);
      });
  if (!fits) {
    return Invalid("queries ", ToString(q), ", keys ", ToString(k),
                   " and values ", ToString(v), " do not fit");
  }
  if (c.has(kBias)) {
    INGOT_RETURN_IF_ERROR(
        CheckBias(c, {q.shape[0], q.shape[1], q.shape[2], k.shape[2]}));
  }
  if (c.has(kPlaces)) {
    INGOT_RETURN_IF_ERROR(CheckCounts(c, kPlaces, "places"));
  }
  if (c.has(kLengths)) {
    INGOT_RETURN_IF_ERROR(CheckCounts(c, kLengths, "lengths"));
  }
  if (c.has(kSink)) {
    const TensorType& sink = c.type(kSink);
    INGOT_RETURN_IF_ERROR(ExpectSameType(q, sink));
    INGOT_RETURN_IF_ERROR(ExpectRank(sink, 1, "the sink"));
    if (!MayBeEqual(sink.shape[0], q.shape[1], c.assumed)) {
      return Invalid("a sink ", ToString(sink), " of queries ", ToString(q));
    }
  }
  if (!ScoreType(c.attrs, q.dtype).is_float()) {
    return Invalid("precision=", ScoreType(c.attrs, q.dtype).ToString());
  }
  return Types{{q.dtype, {q.shape[0], q.shape[1], q.shape[2], v.shape[3]}}};
}

// The definition. Stages are by head of the keys and then by the heads of
// queries that share it: [batch, head, member, query, ...].
class Definition {
 public:
  explicit Definition(const ComputeContext& c)
      : c_(c),
        q_(c.inputs[kQuery]),
        k_(c.inputs[kKey]),
        v_(c.inputs[kValue]),
        type_(ScoreType(c.attrs, q_.dtype())),
        keys_(k_.shape()[2]),
        group_(GroupOf(q_.shape()[1], k_.shape()[1])),
        rows_({q_.shape()[0], k_.shape()[1], I64(group_), q_.shape()[2]}) {}

  te::Tensor Build() const {
    const te::Tensor scores = Scores();
    const te::Tensor most = c_.graph.Reduce(
        SubName(c_, "max"), rows_, {keys_}, te::Reducer::Max(type_),
        [&](const Indices& i, const Indices& r) { return At(scores, i, r[0]); },
        Role(te::kAttentionMax));
    const te::Tensor top = c_.graph.Compute(
        SubName(c_, "top"), rows_,
        [&](const Indices& i) { return Max(most(i), Floor(HeadOf(i))); },
        Role(te::kAttentionTop));
    const te::Tensor exps = c_.graph.Compute(
        SubName(c_, "exp"), scores.shape(),
        [&](const Indices& i) {
          const Indices row(i.begin(), i.end() - 1);
          return MakeCall(Intrinsic::kExp, {scores(i) - top(row)});
        },
        Role(te::kAttentionExp));
    const te::Tensor sum = c_.graph.Reduce(
        SubName(c_, "sum"), rows_, {keys_}, te::Reducer::Sum(type_),
        [&](const Indices& i, const Indices& r) { return At(exps, i, r[0]); },
        Role(te::kAttentionSum));
    return Result(exps, sum, top);
  }

 private:
  static Tags Role(absl::string_view role) {
    return {{te::kAttention, std::string(role)}};
  }
  static Tags ProductRole(absl::string_view role) {
    Tags tags = Role(role);
    tags[te::kAnchor] = te::kMatmul;
    return tags;
  }
  static Expr At(const te::Tensor& t, Indices row, const Expr& last) {
    row.push_back(last);
    return t(row);
  }
  // The head of the queries at a point of a stage.
  Expr HeadOf(const Indices& i) const { return i[1] * group_ + i[2]; }
  // The operand's number for a batch.
  Expr CountAt(Operand operand, const Expr& batch) const {
    const te::Tensor& t = c_.inputs[operand];
    return t({SameDim(t.shape()[0], I64(1)) ? I64(0) : batch});
  }
  // The softmax subtracts at least this, a number, from scores, so that the
  // exponential of a masked one is 0 also where all are masked.
  Expr Floor(const Expr& head) const {
    const Expr lowest = MakeConst(type_, LowestNumber(type_));
    if (!c_.has(kSink)) return lowest;
    return Max(MakeCast(type_, c_.inputs[kSink]({head})), lowest);
  }

  te::Tensor Scores() const {
    const DataType acc = ComputeType(q_.dtype());
    const te::Tensor scaled = c_.graph.Compute(
        SubName(c_, "scaled"), q_.shape(),
        [&](const Indices& i) {
          return MakeCast(acc, q_(i)) *
                 MakeConst(acc, c_.attrs.Get<double>("scale"));
        },
        Role(te::kAttentionScaled));
    Shape shape = rows_;
    shape.push_back(keys_);
    const te::Tensor product = c_.graph.Reduce(
        SubName(c_, "product"), shape, {q_.shape()[3]}, te::Reducer::Sum(acc),
        [&](const Indices& i, const Indices& r) {
          return scaled({i[0], HeadOf(i), i[3], r[0]}) *
                 MakeCast(acc, k_({i[0], i[1], i[4], r[0]}));
        },
        ProductRole(te::kAttentionProduct));
    return c_.graph.Compute(
        SubName(c_, "scores"), shape,
        [&](const Indices& i) { return Masked(i, Biased(i, product(i))); },
        Role(te::kAttentionScores));
  }

  Expr LoadBias(const Indices& i) const {
    return BroadcastLoad(c_.inputs[kBias], {i[0], HeadOf(i), i[3], i[4]},
                         {q_.shape()[0], q_.shape()[1], rows_[3], keys_});
  }

  Expr Biased(const Indices& i, const Expr& product) const {
    Expr x = MakeCast(type_, product);
    if (const double cap = c_.attrs.Get<double>("softcap"); cap > 0) {
      const Expr most = MakeConst(type_, cap);
      x = MakeCall(Intrinsic::kTanh, {x / most}) * most;
    }
    if (!c_.has(kBias) || c_.inputs[kBias].dtype().is_bool()) return x;
    return x + MakeCast(type_, LoadBias(i));
  }

  // Conditions by place compare the key with what does not depend on it, first:
  // a schedule passes keys by that do not count for it.
  Expr Masked(const Indices& i, const Expr& score) const {
    std::vector<Expr> allowed;
    const Expr place =
        c_.has(kPlaces) ? i[3] + CountAt(kPlaces, i[0]) : Expr(i[3]);
    const int64_t left = c_.attrs.Get<int64_t>("left");
    const int64_t right = c_.attrs.Get<int64_t>("right");
    if (right >= 0) allowed.push_back(Le(i[4], place + right));
    if (left >= 0) allowed.push_back(Ge(i[4], place - left));
    if (c_.has(kLengths)) {
      allowed.push_back(Lt(i[4], CountAt(kLengths, i[0])));
    }
    if (c_.has(kBias) && c_.inputs[kBias].dtype().is_bool()) {
      allowed.push_back(LoadBias(i));
    }
    if (allowed.empty()) return score;
    return MakeSelect(All(allowed), score, LowestOf(type_));
  }

  te::Tensor Result(const te::Tensor& exps, const te::Tensor& sum,
                    const te::Tensor& top) const {
    Shape shape = rows_;
    shape.push_back(v_.shape()[3]);
    const te::Tensor values = c_.graph.Reduce(
        SubName(c_, "values"), shape, {keys_}, te::Reducer::Sum(type_),
        [&](const Indices& i, const Indices& r) {
          return exps({i[0], i[1], i[2], i[3], r[0]}) *
                 MakeCast(type_, v_({i[0], i[1], r[0], i[4]}));
        },
        ProductRole(te::kAttentionValues));
    const Shape& out = c_.outputs[0].shape;
    return c_.graph.Compute(
        c_.name, out,
        [&](const Indices& i) {
          const Indices row = {i[0], i[1] / I64(group_), i[1] % I64(group_),
                               i[2]};
          Expr whole = sum(row);
          if (c_.has(kSink)) {
            const Expr sink = MakeCast(type_, c_.inputs[kSink]({i[1]}));
            whole = whole + MakeCall(Intrinsic::kExp, {sink - top(row)});
          }
          // A sum of no values is 0, one of values without weights nothing.
          const Expr zero = MakeConst(type_, 0);
          const Expr is_zero = c_.attrs.Get<int64_t>("masked_zero") != 0
                                   ? Eq(whole, zero)
                                   : Eq(keys_, I64(0));
          const Expr y =
              MakeSelect(is_zero, zero, At(values, row, i[3]) / whole);
          return MakeCast(c_.outputs[0].dtype, y);
        },
        Role(te::kAttentionResult));
  }

  const ComputeContext& c_;
  const te::Tensor q_, k_, v_;
  const DataType type_;
  const Dim keys_;
  const int64_t group_;
  const Shape rows_;
};

}  // namespace

absl::Status RegisterAttention(OpRegistry* registry) {
  OpDef def;
  def.name = "attention";
  def.doc =
      "sums of values weighted by softmax(queries keys^T scale + bias) along "
      "keys; operands queries[b, h, s, d], keys[b, kv, t, d], values[b, kv, t, "
      "v], h / kv heads of queries in a row sharing one of keys, bias that "
      "broadcasts to [b, h, s, t]? (of bool: which scores count), places[b or "
      "1]? (i64, of the first query among the keys, 0), lengths[b or 1]? (i64, "
      "keys that count), sink[h]? (a score that belongs to no key)";
  def.min_inputs = 3;
  def.max_inputs = 7;
  def.fusion = FusionKind::kAnchor;
  // Parts and transposes of its operands are read where they are.
  def.traits = kPacksOperands;
  def.attrs = {
      FloatAttr("scale", "of the scores, before softcap and bias", 1),
      FloatAttr("softcap", "c: scores become c tanh(score / c); 0: as they are",
                0),
      IntAttr("left", "keys before a query's own place that it sees; -1: all",
              -1),
      IntAttr("right", "keys after it that it sees; -1: all", -1),
      IntAttr("masked_zero", "1: a query that sees no key gets 0; 0: NaN", 0),
      TypeAttr("precision",
               "of scores and softmax; where it is left out, f32 for 16-bit "
               "operands, theirs otherwise",
               kOptional)};
  def.infer = &Infer;
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    return Tensors{Definition(c).Build()};
  };
  return RegisterAllOf(registry, {std::move(def)});
}

}  // namespace ingot::relay::ops
